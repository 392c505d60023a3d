"""What of a model its class can lose, and what a smaller one keeps; parts that are scaled by gates, or silenced."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.layer_stack import Stack, States, instead, stack
from headscope.errors import HeadscopeError
from headscope.models.feed_forward import FeedForward, entering, feed_forwards, width_name
from headscope.models.head_slicing import sharing, sizes, uncuttable
from headscope.models.model import Model
from headscope.models.pruned_checkpoint import pruning_of

Numbers = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Kept:
    """The parts of a model that stay; all count from 0, and None keeps all.

    * `layers`: those that stay, in ascending order.
    * `neurons`, `heads`: of each layer of the original model; an ordinary class holds the same number in all layers.
    * `pieces`: ids of the vocabulary, in ascending order.
    """

    layers: tuple[int, ...] | None = None
    neurons: Numbers | None = None
    heads: Numbers | None = None
    pieces: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RemovableParts:
    """What can be cut out of a model.

    * `stack`: its layers; `feed_forward`: their maps, None where these cannot be found.
    * `heads`: how many neighbouring heads can go together: those that share a key and a value; 0 where none can.
    """

    stack: Stack
    feed_forward: tuple[FeedForward, ...] | None
    heads: int


def parts_of(model: Model, *, fine: bool = False) -> RemovableParts:
    """The parts of a model that its class can lose.

    * `fine`: whether heads may go from single layers, so that the model is saved as a pruned one.

    Raises `HeadscopeError` if none can, or the model is quantised, pruned by head, or runs code of its own.
    """
    config, name = model.network.config, model.name
    if getattr(config, "quantization_config", None) or not model.network.dtype.is_floating_point:
        raise HeadscopeError(f"model '{name}' is quantised; shrink the model that it was made from")
    if pruning_of(config):
        raise HeadscopeError(
            f"model '{name}' has lost single heads or neurons, which its class has no sizes for; shrink the original "
            "model"
        )
    if getattr(config, "auto_map", None):
        raise HeadscopeError(f"model '{name}' comes with code of its own; shrink a model of transformers")
    layers = stack(model.network, len(model.capture.heads))
    if layers is None or len(set(layers.layers)) < len(layers.layers):
        raise HeadscopeError(f"model '{name}' has no layers that follow each other, each with its weights; use another")
    maps = feed_forwards(layers)
    if maps and (len({part.width for part in maps}) > 1 or width_name(model.network, maps[0].width) is None):
        maps = None
    explicit = getattr(config, "head_dim", None) is not None
    same = (explicit or fine) and len(set(model.capture.heads)) == 1
    together = sharing(model) if same else 0
    return RemovableParts(layers, maps, together if same and uncuttable(model, together) is None else 0)


@dataclass(frozen=True)
class GateValues:
    """A factor from 0 (removed) to 1 (whole) for each part; None where no part of the kind has a gate."""

    layers: Float[Tensor, " layer"] | None = None
    neurons: Float[Tensor, "layer neuron"] | None = None
    heads: Float[Tensor, "layer head"] | None = None


def gated(model: Model, parts: RemovableParts, values: GateValues) -> ExitStack:
    """Context in which a model computes with its parts scaled; at 0 and 1 as `silenced` does.

    A neuron is scaled by its activation, a head by its output, and a layer by what it changes in the states.
    """
    context = ExitStack()
    maps = [*model.projections] if values.heads is not None else []  # found by a pass through all layers
    if values.layers is not None:
        both = zip(parts.stack.layers, values.layers, strict=True)
        context.enter_context(instead({layer: _mixed(layer.forward, gate) for layer, gate in both}))
    if values.heads is not None:
        context.enter_context(scaled([one.output for one in maps], [*values.heads], maps[0].width))
    if values.neurons is not None:
        context.enter_context(scaled([part.output for part in parts.feed_forward or ()], [*values.neurons], 1))
    return context


def scaled(
    outputs: Sequence[nn.Module], gates: Sequence[Float[Tensor, " part"]], width: int
) -> AbstractContextManager[None]:
    """Context in which the parts, each `width` wide, are scaled where they enter the output map of each layer."""
    return entering(outputs, lambda layer, values: values * gates[layer].to(values).repeat_interleave(width))


def _mixed(forward: Callable[..., States], gate: Float[Tensor, ""]) -> Callable[..., States]:
    """The forward method of a layer whose change of the states is scaled."""

    def mixed(states: States, *arguments: Any, **keywords: Any) -> States:
        return states + gate * (forward(states, *arguments, **keywords) - states)

    return mixed


def silenced(model: Model, kept: Kept) -> ExitStack:
    """Context in which a model computes without the layers, heads and neurons that are not kept."""
    parts, context = parts_of(model), ExitStack()
    maps = [*model.projections] if kept.heads is not None else []  # found by a pass through all layers
    if kept.layers is not None:
        gone = [layer for number, layer in enumerate(parts.stack.layers) if number not in kept.layers]
        context.enter_context(instead(dict.fromkeys(gone, lambda states, *_, **__: states)))
    if kept.heads is not None:
        context.enter_context(_only([one.output for one in maps], kept.heads, maps[0].width))
    if kept.neurons is not None and parts.feed_forward:
        context.enter_context(_only([part.output for part in parts.feed_forward], kept.neurons, 1))
    return context


def _only(outputs: Sequence[nn.Module], kept: Numbers, width: int) -> AbstractContextManager[None]:
    """Context in which only the kept parts, each `width` wide, enter the output map of each layer."""
    masks = []
    for some, (inputs, _) in zip(kept, map(sizes, outputs), strict=True):
        masks.append(torch.zeros(inputs // width))
        masks[-1][list(some)] = 1
    return scaled(outputs, masks, width)
