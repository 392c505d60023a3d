"""Layers, neurons and heads of a model, scaled by gates, with respect to which a loss has gradients, or silenced."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headscope.capture.layer_stack import States, instead
from headscope.models.feed_forward import entering
from headscope.models.head_slicing import sizes
from headscope.models.model import Model
from headscope.models.removable_parts import Kept, Numbers, RemovableParts, parts_of


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
