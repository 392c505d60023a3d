"""Which heads a pruned model has lost: kept in its configuration, from which it is built again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import transformers
from jaxtyping import Bool
from transformers import PreTrainedConfig, PreTrainedModel

from headscope.errors import HeadscopeError
from headscope.models.head_slicing import slice_heads

# Of config.json: {"heads": [12, 12], "removed": {"2": [3, 7]}}, layers and heads from 1.
KEY = "headscope_pruning"


@dataclass(frozen=True)
class Pruning:
    """How many heads each layer was made with, and the numbers of those that are left, from 0."""

    heads: tuple[int, ...]
    kept: tuple[tuple[int, ...], ...]

    def without(self, remove: Bool[np.ndarray, "layer head"]) -> "Pruning":
        """What is left once more heads go; `remove` counts the heads that are left, not those that were.

        >>> once = Pruning((3,), ((0, 1, 2),)).without(np.array([[True, False, False]]))
        >>> once.without(np.array([[True, False]])).kept
        ((2,),)
        """
        left = (
            tuple(head for head, gone in zip(kept, row, strict=False) if not gone)
            for kept, row in zip(self.kept, remove, strict=True)
        )
        return Pruning(self.heads, tuple(left))

    def as_config(self) -> dict[str, Any]:
        """What is stored: layers and heads from 1.

        >>> Pruning((3, 3), ((0, 2), (0, 1, 2))).as_config()
        {'heads': [3, 3], 'removed': {'1': [2]}}
        """
        lost = {
            str(layer): [head + 1 for head in range(heads) if head not in kept]
            for layer, (heads, kept) in enumerate(zip(self.heads, self.kept, strict=True), start=1)
        }
        return {"heads": list(self.heads), "removed": {layer: heads for layer, heads in lost.items() if heads}}


def whole(heads: tuple[int, ...]) -> Pruning:
    """Of a model that has all its heads."""
    return Pruning(heads, tuple(tuple(range(number)) for number in heads))


def pruning_of(config: PreTrainedConfig) -> Pruning | None:
    """Which heads a model has lost, from its configuration; None for one that has all of them.

    Raises `HeadscopeError` if what is stored makes no sense.
    """
    stored = getattr(config, KEY, None)
    if stored is None:
        return None
    try:
        return _read(stored)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise HeadscopeError(
            f"config.json: {KEY} is no list of removed heads ({error}); prune the whole model again"
        ) from error


def _read(stored: Mapping[str, Any]) -> Pruning:
    heads = tuple(int(number) for number in stored["heads"])
    lost = {int(layer): {int(head) for head in numbers} for layer, numbers in stored["removed"].items()}
    for layer, numbers in lost.items():
        if not (1 <= layer <= len(heads) and numbers <= set(range(1, heads[layer - 1] + 1))):
            raise ValueError(f"there are no heads {sorted(numbers)} in layer {layer}")
    return Pruning(
        heads,
        tuple(
            tuple(head for head in range(number) if head + 1 not in lost.get(layer, ()))
            for layer, number in enumerate(heads, start=1)
        ),
    )


def built(kind: type[PreTrainedModel], pruning: Pruning) -> type[PreTrainedModel]:
    """A class of models that lose their heads as soon as they are built, so that `from_pretrained` fills the rest."""

    def build(self: PreTrainedModel, *args: Any, **keywords: Any) -> None:
        kind.__init__(self, *args, **keywords)
        slice_heads(self, pruning.heads, pruning.kept)

    return type(kind.__name__, (kind,), {"__init__": build, "__module__": kind.__module__})


def headless_class(config: PreTrainedConfig) -> type[PreTrainedModel]:
    """The class of a model without a task head; of an encoder-decoder, of its encoder."""
    kind: Any = transformers.MODEL_MAPPING[type(config)]
    if not config.is_encoder_decoder:
        return kind
    with torch.device("meta"):
        return type(kind(config).get_encoder())
