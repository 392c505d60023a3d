"""Silence layers, heads and neurons of a model: what its outputs are without them."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

import torch
from torch import nn

from headscope.capture.layer_stack import instead
from headscope.models.gated import scaled
from headscope.models.head_slicing import sizes
from headscope.models.model import Model
from headscope.models.removable_parts import Kept, Numbers, parts_of


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
    for some, (entering, _) in zip(kept, map(sizes, outputs), strict=True):
        masks.append(torch.zeros(entering // width))
        masks[-1][list(some)] = 1
    return scaled(outputs, masks, width)
