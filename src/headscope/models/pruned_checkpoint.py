"""The removed heads and neurons of a model, in its configuration, and the class that is built without them."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import transformers
from jaxtyping import Bool
from transformers import PreTrainedConfig, PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models.checkpoint import PRUNING
from headscope.models.feed_forward import slice_neurons, unrun_feed_forwards
from headscope.models.head_slicing import slice_heads
from headscope.storage.limits import MOST_HEADS, MOST_IN_ALL, MOST_NEURONS

# In config.json: {"heads": [12, 12], "removed": {"2": [3, 7]}, "neurons": [3072, 512]}, layers and heads from 1.
KEY = PRUNING


@dataclass(frozen=True)
class Pruning:
    """The number of heads of each original layer, the remaining heads, from 0, and the remaining number of neurons.

    * `neurons`: of each layer; None where all have the number that the configuration says.
    """

    heads: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...]
    neurons: tuple[int, ...] | None = None

    def without(self, remove: Bool[np.ndarray, "layer head"]) -> "Pruning":
        """Remove further heads; `remove` indexes the remaining heads, not the original ones.

        >>> once = Pruning((3,), ((0, 1, 2),)).without(np.array([[True, False, False]]))
        >>> once.without(np.array([[True, False]])).kept
        ((2,),)
        """
        left = (
            tuple(head for head, gone in zip(kept, row, strict=False) if not gone)
            for kept, row in zip(self.kept, remove, strict=True)
        )
        return replace(self, kept=tuple(left))

    def as_config(self) -> dict[str, Any]:
        """The stored form: layers and heads from 1.

        >>> Pruning((3, 3), ((0, 2), (0, 1, 2))).as_config()
        {'heads': [3, 3], 'removed': {'1': [2]}}
        >>> Pruning((3,), ((0, 1, 2),), (8,)).as_config()
        {'heads': [3], 'removed': {}, 'neurons': [8]}
        """
        lost = {
            str(layer): [head + 1 for head in range(heads) if head not in kept]
            for layer, (heads, kept) in enumerate(zip(self.heads, self.kept, strict=True), start=1)
        }
        removed = {layer: heads for layer, heads in lost.items() if heads}
        neurons = {} if self.neurons is None else {"neurons": list(self.neurons)}
        return {"heads": list(self.heads), "removed": removed, **neurons}

    def slice(self, network: PreTrainedModel) -> None:
        """Cut a network down to the remaining heads, and to the first neurons, as many as remain, in place."""
        slice_heads(network, self.heads, self.kept)
        if self.neurons is None:
            return
        maps = unrun_feed_forwards(network, len(self.heads))
        if maps is None:
            raise ValueError("the feed-forward parts of its layers cannot be found")
        slice_neurons(maps, [range(number) for number in self.neurons])


def unpruned(heads: tuple[int, ...]) -> Pruning:
    """The state of a model with all of its heads."""
    return Pruning(heads, tuple(tuple(range(number)) for number in heads))


def pruning_of(config: PreTrainedConfig) -> Pruning | None:
    """The removed heads in a configuration; None for a model with all of its heads."""
    stored = getattr(config, KEY, None)
    if stored is None:
        return None
    try:
        return _read(stored)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise HeadscopeError(
            f"model '{config.name_or_path or 'in memory'}': {KEY} in config.json is no list of removed heads "
            f"({str(error)[:120]}); prune the original model again"
        ) from error


def _read(stored: Mapping[str, Any]) -> Pruning:
    heads = tuple(int(number) for number in stored["heads"])
    if not (
        0 < len(heads) <= MOST_HEADS and all(0 < number <= MOST_HEADS for number in heads) and sum(heads) <= MOST_IN_ALL
    ):
        raise ValueError(f"layers and their heads are 1 to {MOST_HEADS}, at most {MOST_IN_ALL} in all")
    lost = {int(layer): {int(head) for head in numbers} for layer, numbers in stored["removed"].items()}
    for layer, numbers in lost.items():
        if not (1 <= layer <= len(heads) and numbers <= set(range(1, heads[layer - 1] + 1))):
            raise ValueError(f"there are no heads {sorted(numbers)} in layer {layer}")
    kept = (
        tuple(head for head in range(number) if head + 1 not in lost.get(layer, ()))
        for layer, number in enumerate(heads, start=1)
    )
    return Pruning(heads, tuple(kept), _neurons(stored.get("neurons"), len(heads)))


def _neurons(stored: Any, layers: int) -> tuple[int, ...] | None:
    """The stored numbers of neurons of the layers; None without any."""
    if stored is None:
        return None
    neurons = tuple(int(number) for number in stored)
    if len(neurons) != layers or not all(0 <= number <= MOST_NEURONS for number in neurons):
        raise ValueError(f"neurons of {layers} layers are 0 to {MOST_NEURONS}, one number for each layer")
    return neurons


def built(kind: type[PreTrainedModel], pruning: Pruning) -> type[PreTrainedModel]:
    """A class of models without the removed parts, for `from_pretrained` to fill."""

    def build(self: PreTrainedModel, *args: Any, **keywords: Any) -> None:
        kind.__init__(self, *args, **keywords)
        pruning.slice(self)

    return type(kind.__name__, (kind,), {"__init__": build, "__module__": kind.__module__})


def class_of(network: PreTrainedModel) -> type[PreTrainedModel]:
    """The class that makes a network like this one, which may have lost parts, from its configuration."""
    return _building(type(network), network.config)


def made_like(network: PreTrainedModel) -> PreTrainedModel:
    """A network like another one, made from a copy of its configuration, whose weights are to be filled."""
    return made_of(type(network), copy.deepcopy(network.config))


def made_of(kind: type[PreTrainedModel], config: PreTrainedConfig) -> PreTrainedModel:
    """A network of a class, without the parts that its configuration lacks, whose weights are to be filled."""
    network = _building(kind, config)(config)
    network.__class__ = kind
    return network


def _building(kind: type[PreTrainedModel], config: PreTrainedConfig) -> type[PreTrainedModel]:
    pruning = pruning_of(config)
    return built(kind, pruning) if pruning else kind


def headless_class(config: PreTrainedConfig) -> type[PreTrainedModel]:
    """The class of a model without a task head; for an encoder-decoder the class of its encoder."""
    kind: Any = transformers.MODEL_MAPPING[type(config)]
    if not config.is_encoder_decoder:
        return kind
    with torch.device("meta"):
        return type(kind(config).get_encoder())
