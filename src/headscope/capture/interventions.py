"""Disable heads, or scale their attention: where it is observed, or by other context vectors of their layer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headscope.capture.attention_function import for_each_head
from headscope.capture.observer import HIDDEN, Intervention
from headscope.capture.projections import Projections, at_contexts
from headscope.errors import HeadscopeError

Mode = Literal["uniform", "zero", "mean"]
Heads = Bool[np.ndarray, "layer head"]


def uniform(disabled: Heads) -> Intervention:
    """Uniform attention of each query of a disabled head to all keys that it sees: 1/L over an example's real tokens.

    Under a causal or sliding mask it is one over the number of keys that the query may see.
    """

    def even(attention: Tensor, scores: Tensor) -> Tensor:
        seen = (scores > HIDDEN).to(attention.dtype)
        return seen / seen.sum(-1, keepdim=True)

    return _OfHeads(disabled, even)


def zero(disabled: Heads) -> Intervention:
    """Zero attention of a disabled head: its output is 0."""
    return _OfHeads(disabled, lambda attention, scores: torch.zeros_like(attention))


@dataclass(frozen=True)
class Gated:
    """The output of each head in each layer times its gate, which gradients reach."""

    gates: Sequence[Float[Tensor, "example query head"]]
    key_ranges = True

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`."""
        return attention * self.gates[layer][examples, queries].mT[..., None]


@contextmanager
def means_written(
    network: nn.Module,
    projections: Sequence[Projections],
    disabled: Heads,
    means: Float[np.ndarray, "layer head width"],
) -> Iterator[None]:
    """Within this context the output of each disabled head is the same vector for every token."""
    columns, vectors = [], []
    for chosen, vector, projection in zip(disabled, means, projections, strict=True):
        columns.append(torch.from_numpy(chosen[: projection.heads]).repeat_interleave(projection.width))
        # [head * width]
        vectors.append(torch.from_numpy(vector[: projection.heads, : projection.width]).flatten())

    def write(layer: int, contexts: Tensor) -> Tensor:
        return torch.where(columns[layer].to(contexts.device), vectors[layer].to(contexts), contexts)

    with at_contexts(network, projections, write):
        yield


def refuse(mode: str, disabled: Heads, heads: Sequence[int], means: np.ndarray | None) -> None:
    """Raise `HeadscopeError` unless there is such a mode, and `ValueError` unless the arrays fit the model."""
    if mode not in get_args(Mode):
        raise HeadscopeError(f"mode '{mode}' is unknown; use one of {', '.join(get_args(Mode))}")
    if disabled.shape != (len(heads), max(heads)):
        raise ValueError(f"heads of shape {disabled.shape}, the model has {(len(heads), max(heads))}")
    if mode == "mean" and (means is None or means.shape[:2] != disabled.shape):
        raise ValueError(f"mode 'mean' needs means [layer, head, width], not {None if means is None else means.shape}")


@dataclass(frozen=True)
class _OfHeads:
    """An intervention that puts `instead(attention, scores)` of the disabled heads in the place of theirs."""

    disabled: Heads
    instead: Callable[[Tensor, Tensor], Tensor]
    key_ranges = True

    @cached_property
    def _chosen(self) -> list[list[int]]:
        return [np.flatnonzero(layer).tolist() for layer in self.disabled]

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
        """See `Intervention`."""
        heads = self._chosen[layer]
        if not heads:
            return attention
        changed = attention.clone()
        changed[:, heads] = self.instead(attention[:, heads], scores[:, heads])
        return changed


Contexts = Float[Tensor, "example query head width"]
# One query, or one example, where it is the same for all.
Replacement = Callable[[Float[Tensor, "example key_head key width"], Tensor | None], Contexts]


def replacements(
    mode: Mode, projections: Sequence[Projections], means: Float[np.ndarray, "layer head width"] | None = None
) -> list[Replacement]:
    """The replacement of each layer; see `Model.changed` for the modes."""
    if mode == "uniform":
        return [partial(uniform_context, heads=projection.heads) for projection in projections]
    vectors = [np.zeros((projection.heads, projection.width), np.float32) for projection in projections]
    if mode == "mean" and means is not None:
        vectors = [
            mean[: projection.heads, : projection.width] for mean, projection in zip(means, projections, strict=True)
        ]
    return [partial(_constant, torch.from_numpy(vector)) for vector in vectors]


def uniform_context(
    value: Float[Tensor, "example key_head key width"], mask: Float[Tensor, "example 1 query key"] | None, heads: int
) -> Contexts:
    """The context of each head under uniform attention to all keys that a query sees.

    * `mask`: True, or 0, where a query sees a key; None where all see all.

    >>> value = torch.tensor([[[[1.0], [2.0], [6.0]]]])
    >>> uniform_context(value, None, heads=1).flatten()
    tensor([3.])
    >>> uniform_context(value, torch.tensor([[[[True, False, True]]]]), heads=1).flatten()
    tensor([3.5000])
    """
    if mask is None:
        means = value.mean(2, keepdim=True)
    else:
        seen = seen_by(mask).to(value.dtype)
        means = seen / seen.sum(-1, keepdim=True).clamp_min(1) @ value
    # [example, key_head, query, width] -> [example, query, head, width]
    return for_each_head(means.transpose(1, 2), heads, dim=2)


def seen_by(mask: Tensor) -> Bool[Tensor, "example 1 query key"]:
    """Mask of the keys that each query sees; one query where all see the same."""
    seen = mask if mask.dtype == torch.bool else mask > HIDDEN
    first = seen[:, :, :1]
    return first if bool((seen == first).all()) else seen


def _constant(vector: Float[Tensor, "head width"], value: Tensor, mask: Tensor | None) -> Contexts:
    return vector.to(value)[None, None]
