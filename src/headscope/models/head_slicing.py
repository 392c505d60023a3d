"""Cut heads out of the linear maps of attention: fewer rows and columns, in place.

Linear maps and numbers of heads are identified by size and name; `prune` checks the outputs.
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
from headscope.errors import HeadscopeError
from headscope.models.model import Model

# Attributes of modules: the number of heads, that of key heads, and the width of all heads together.
HEADS = ("num_attention_heads", "num_heads", "n_heads", "n_head")
KEY_HEADS = ("num_key_value_heads",)
WIDTHS = ("all_head_size", "split_size", "embed_dim", "inner_dim")
# Families with fused maps in the order [head, part]; others have [part, head] (parts: query, key, value).
BY_HEAD = ("gpt_neox", "persimmon")
# Before, fused attention without heads divides by their number, which ends the process (seen in 2.11, not in 2.13).
WITHOUT_HEADS = (2, 13)


@dataclass(frozen=True)
class HeadSlice:
    """The heads `kept` (from 0) of a layer with `heads` heads, each `width` wide."""

    kept: tuple[int, ...]
    heads: int
    width: int

    def index(self, size: int, by_head: bool = False) -> Tensor:
        """Indices of the kept heads among `size` rows: all heads once, or three times in a fused map."""
        parts = size // (self.heads * self.width)
        shape = (1, self.heads, parts * self.width) if by_head else (parts, self.heads, self.width)
        # [part, head, width] -> [kept rows]
        return torch.arange(size).view(shape)[:, list(self.kept)].flatten()

    def for_keys(self, number: int) -> "HeadSlice":
        """The slice of `number` key heads, each shared by as many neighbouring heads, which stay or go together."""
        shared = self.heads // number
        kept = tuple(dict.fromkeys(head // shared for head in self.kept))
        if len(kept) * shared != len(self.kept):
            raise ValueError(f"of the {shared} heads that share keys and values all stay or none")
        return HeadSlice(kept, number, self.width)


def slice_heads(network: nn.Module, heads: Sequence[int], kept: Sequence[Sequence[int]]) -> None:
    """Cut each layer's attention down to the heads `kept`, from 0; `heads` are the present numbers of heads.

    Raises `HeadscopeError` if a layer would keep none with a torch that cannot compute that.
    """
    empty = [number for number, some in enumerate(kept, 1) if not some]
    release = tuple(map(int, torch.__version__.split(".")[:2]))
    if empty and release < WITHOUT_HEADS:
        raise HeadscopeError(
            f"layer {empty[0]} has no head left, which ends the process with torch {torch.__version__}; "
            f"use torch {'.'.join(map(str, WITHOUT_HEADS))} or later, or keep at least one head in each layer"
        )
    by_head = network.config.model_type in BY_HEAD  # type: ignore[union-attr]
    for attention, number, some in zip(list(attentions(network)), heads, kept, strict=True):
        if len(some) < number:
            _slice(attention, HeadSlice(tuple(some), number, sizes(attention.output)[0] // number), by_head)


def _slice(attention: Attention, piece: HeadSlice, by_head: bool) -> None:
    width, (_, key, value) = piece.heads * piece.width, attention.inputs
    keys = piece if key is value else piece.for_keys(sizes(key)[1] // piece.width)
    for module in attention.module.modules():
        if module is attention.output:
            keep_rows(module, piece.index(width), inputs=True)
        elif isinstance(module, nn.Linear | Conv1D) and sizes(module)[1] in (width, 3 * width):
            keep_rows(module, piece.index(sizes(module)[1], by_head), inputs=False)
        elif module in (key, value) and key is not value:
            keep_rows(module, keys.index(sizes(module)[1]), inputs=False)
        for names, before, now in (
            (HEADS, piece.heads, len(piece.kept)),
            (KEY_HEADS, keys.heads, len(keys.kept)),
            (WIDTHS, width, len(piece.kept) * piece.width),
        ):
            for name in names:
                if getattr(module, name, None) == before:
                    setattr(module, name, now)
    if "position_bias" in inspect.signature(attention.module.forward).parameters:
        attention.module.register_forward_pre_hook(partial(_slice_bias, piece), with_kwargs=True)


def sharing(model: Model) -> int:
    """How many query heads share a key and a value, by the sizes of the linear maps; 1 where these are fused.

    Raises `HeadscopeError` for a model whose linear maps of attention cannot be identified.
    """
    return max([1, *(queries // keys for fused, queries, keys in _widths(model) if keys and not fused)])


def _widths(model: Model) -> list[tuple[bool, int, int]]:
    """Of each layer: whether its map is fused, the width of all its queries, and the outputs of the map of its keys."""
    return [(layer.fused, layer.heads * layer.width, sizes(layer.key)[1]) for layer in model.projections]


def uncuttable(model: Model, together: int = 1) -> str | None:
    """The structural reason against cutting heads out of a model, `together` neighbouring ones at a time, or None."""
    maps = model.projections
    if len({projection.output for projection in maps}) < len(maps):
        return "its layers share their weights"
    if any(fused and keys != 3 * queries for fused, queries, keys in _widths(model)):
        return "its heads share keys that one linear map makes with the queries"
    shared = sharing(model)
    if any(not fused and keys * shared != queries for fused, queries, keys in _widths(model)):
        return "its heads share keys and values in groups that differ from layer to layer"
    if together % shared:
        return f"its heads share keys and values in groups of {shared}"
    held = list(attentions(model.network))
    if [projection.output for projection in held] != [projection.output for projection in maps]:
        return "its layers are not called in their stored order"
    if any(isinstance(module, nn.Embedding) for projection in held for module in projection.module.modules()):
        return "a layer makes a bias for the heads of all layers"
    if getattr(model.network.config, "auto_map", None):
        return "it comes with code of its own"
    return None


def sizes(linear: Any) -> tuple[int, int]:
    """Input and output size of a linear map."""
    first, second = linear.weight.shape
    return (first, second) if isinstance(linear, Conv1D) else (second, first)


def keep_rows(linear: Any, index: Tensor, *, inputs: bool) -> None:
    """Keep only some inputs or outputs of a linear map, in place."""
    dim = int(inputs) if isinstance(linear, nn.Linear) else 1 - int(inputs)
    linear.weight = _selected(linear.weight, dim, index)
    if not inputs and linear.bias is not None:
        linear.bias = _selected(linear.bias, 0, index)
    n_in, n_out = sizes(linear)
    for name, size in {"in_features": n_in, "nx": n_in, "out_features": n_out, "nf": n_out}.items():
        if hasattr(linear, name):
            setattr(linear, name, size)


def _selected(weight: Tensor, dim: int, index: Tensor) -> nn.Parameter:
    chosen = weight.detach().index_select(dim, index.to(weight.device))
    return nn.Parameter(chosen, requires_grad=weight.requires_grad)


def _slice_bias(
    piece: HeadSlice, module: nn.Module, args: tuple, keywords: dict[str, Any]
) -> tuple[tuple, dict[str, Any]]:
    """Cut a bias shared by all layers, [example, head, query, key], down to the heads of this layer."""
    arguments = inspect.signature(module.forward).bind(*args, **keywords)
    bias = arguments.arguments.get("position_bias")
    if bias is not None:
        arguments.arguments["position_bias"] = bias[:, list(piece.kept)]
    return arguments.args, arguments.kwargs
