"""HeadSlice attention down to some of its heads: fewer rows and columns in its linear maps, in place.

Which linear maps and numbers of a module hold heads is told from their size and name. That all were found is
for `prune` to check.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headscope.capture.projections import Attention, attentions

# What modules call the number of their heads, and the numbers of all heads together.
HEADS = ("num_attention_heads", "num_heads", "n_heads", "n_head", "num_key_value_heads")
WIDTHS = ("all_head_size", "split_size", "embed_dim", "inner_dim")
# Families whose fused maps go head by head, each with its query, key and value; in others it is the other way round.
BY_HEAD = ("gpt_neox", "persimmon")


@dataclass(frozen=True)
class HeadSlice:
    """Which heads of a layer stay: the numbers `kept`, from 0, of `heads`, each `width` wide."""

    kept: tuple[int, ...]
    heads: int
    width: int

    def index(self, size: int, by_head: bool = False) -> Tensor:
        """What stays of `size` numbers: all heads once, or three times where query, key and value are fused."""
        parts = size // (self.heads * self.width)
        shape = (1, self.heads, parts * self.width) if by_head else (parts, self.heads, self.width)
        return torch.arange(size).view(shape)[:, list(self.kept)].flatten()


def slice_heads(network: nn.Module, heads: Sequence[int], kept: Sequence[Sequence[int]]) -> None:
    """HeadSlice each layer's attention to the heads `kept`, numbered from 0; `heads` is how many it has now."""
    by_head = network.config.model_type in BY_HEAD  # type: ignore[union-attr]
    for attention, number, some in zip(list(attentions(network)), heads, kept, strict=True):
        if len(some) < number:
            _slice(attention, HeadSlice(tuple(some), number, sizes(attention.output)[0] // number), by_head)


def _slice(attention: Attention, piece: HeadSlice, by_head: bool) -> None:
    whole = piece.heads * piece.width
    for module in attention.module.modules():
        if module is attention.output:
            _keep(module, piece.index(whole), inputs=True)
        elif isinstance(module, nn.Linear | Conv1D) and sizes(module)[1] in (whole, 3 * whole):
            _keep(module, piece.index(sizes(module)[1], by_head), inputs=False)
        for names, before, now in (
            (HEADS, piece.heads, len(piece.kept)),
            (WIDTHS, whole, len(piece.kept) * piece.width),
        ):
            for name in names:
                if getattr(module, name, None) == before:
                    setattr(module, name, now)
    if "position_bias" in inspect.signature(attention.module.forward).parameters:
        attention.module.register_forward_pre_hook(partial(_slice_bias, piece), with_kwargs=True)


def sizes(linear: Any) -> tuple[int, int]:
    """How many numbers a linear map takes and makes."""
    first, second = linear.weight.shape
    return (first, second) if isinstance(linear, Conv1D) else (second, first)


def _keep(linear: Any, index: Tensor, *, inputs: bool) -> None:
    """Leave only some of the numbers that a linear map takes, or of those that it makes."""
    dim = int(inputs) if isinstance(linear, nn.Linear) else 1 - int(inputs)
    linear.weight = _selected(linear.weight, dim, index)
    if not inputs and linear.bias is not None:
        linear.bias = _selected(linear.bias, 0, index)
    taken, made = sizes(linear)
    for name, size in {"in_features": taken, "nx": taken, "out_features": made, "nf": made}.items():
        if hasattr(linear, name):
            setattr(linear, name, size)


def _selected(weight: Tensor, dim: int, index: Tensor) -> nn.Parameter:
    chosen = weight.detach().index_select(dim, index.to(weight.device))
    return nn.Parameter(chosen, requires_grad=weight.requires_grad)


def _slice_bias(
    piece: HeadSlice, module: nn.Module, args: tuple, keywords: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    """Of a bias that all layers share ([example, head, query, key]), the heads of this layer."""
    given = inspect.signature(module.forward).bind(*args, **keywords)
    bias = given.arguments.get("position_bias")
    if bias is not None:
        given.arguments["position_bias"] = bias[:, list(piece.kept)]
    return given.args, given.kwargs
