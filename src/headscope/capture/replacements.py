"""Replacements of a disabled head's context vectors, from the values and the mask of its layer."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.capture.attention_function import for_each_head
from headscope.capture.interventions import Mode
from headscope.capture.observer import HIDDEN
from headscope.capture.projections import Projections

Contexts = Float[Tensor, "example query head width"]
# One query, or one example, where it is the same for all.
Replacement = Callable[[Float[Tensor, "example key_head key width"], Tensor | None], Contexts]


def replacements(
    mode: Mode, projections: Sequence[Projections], means: Float[np.ndarray, "layer head width"] | None = None
) -> list[Replacement]:
    """The replacement of each layer; see `Model.changed` for the modes."""
    if mode == "uniform":
        return [partial(uniform, heads=projection.heads) for projection in projections]
    vectors = [np.zeros((projection.heads, projection.width), np.float32) for projection in projections]
    if mode == "mean" and means is not None:
        vectors = [
            mean[: projection.heads, : projection.width] for mean, projection in zip(means, projections, strict=True)
        ]
    return [partial(_constant, torch.from_numpy(vector)) for vector in vectors]


def uniform(
    value: Float[Tensor, "example key_head key width"], mask: Float[Tensor, "example 1 query key"] | None, heads: int
) -> Contexts:
    """The context of each head under uniform attention to all keys that a query sees.

    * `mask`: True, or 0, where a query sees a key; None where all see all.

    >>> value = torch.tensor([[[[1.0], [2.0], [6.0]]]])
    >>> uniform(value, None, heads=1).flatten(), uniform(value, torch.tensor([[[[True, False, True]]]]), 1).flatten()
    (tensor([3.]), tensor([3.5000]))
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
