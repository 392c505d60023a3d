"""The mask of the attention function: transformers' eager mask, made in blocks of rows where the input is long."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers.masking_utils import causal_mask_function, eager_mask, sdpa_mask

from headscope.capture.band import Band, band_of
from headscope.capture.watch import current, statistics_of

# A mask up to this many elements per example is made whole; a larger one is made as the blocks need it.
WHOLE_MASK = 1024 * 1024
# Of this two fit into a float, and no score beside it matters.
MASKED = -1e30


def block_mask(
    batch_size: int, q_length: int, kv_length: int, q_offset: int = 0, **keywords: Any
) -> Float[Tensor, "example 1 query key"] | None:
    """transformers' eager mask; for long inputs a lazy one, and for fused attention what it hides."""
    if (
        statistics_of(current())
        and (mask := described_mask(batch_size, q_length, kv_length, q_offset, **keywords)) is not None
    ):
        return mask
    make = eager_mask if q_length * kv_length <= WHOLE_MASK else lazy_mask
    return make(batch_size, q_length, kv_length, q_offset, **keywords)


def lazy_mask(
    batch_size: int, q_length: int, kv_length: int, q_offset: int = 0, **keywords: Any
) -> Float[Tensor, "example 1 query key"] | None:
    """A mask whose rows are made when `mask_block` asks for them; None where transformers needs no mask.

    It has the shape of the whole mask but no memory: it is NaN everywhere, so that a model that reads it
    in another way than through `mask_block` cannot go unnoticed.
    """
    if eager_mask(batch_size, 1, kv_length, q_offset, **keywords) is None:
        return None
    nothing = torch.full((), torch.nan, dtype=keywords["dtype"], device=keywords["device"])
    mask = nothing.expand(batch_size, 1, q_length, kv_length)
    for name, make in {"rows": eager_mask, "seen": sdpa_mask}.items():
        vars(mask)[name] = partial(_rows, make, kv_length=kv_length, q_offset=q_offset, **keywords)
    return mask


def described_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int = 0,
    *,
    mask_function: Callable = causal_mask_function,
    attention_mask: Tensor | None = None,
    **keywords: Any,
) -> Float[Tensor, "example 1 query key"] | None:
    """A mask without memory that says what it is: `visible` has the length of each example, and the band.

    None for a mask of another shape than a band, or of cached keys.
    """
    band = band_of(mask_function, q_length) if not q_offset and q_length == kv_length else None
    if band is None:
        return None
    device = keywords["device"]
    mask = torch.full((), torch.nan, dtype=keywords["dtype"], device=device).expand(batch_size, 1, q_length, kv_length)
    unpadded = torch.full((batch_size,), kv_length, dtype=torch.int32, device=device)
    lengths = unpadded if attention_mask is None else attention_mask.sum(-1, dtype=torch.int32)
    visible: tuple[Tensor, Band] = lengths, band
    vars(mask)["visible"] = visible
    return mask


def mask_block(
    bias: Tensor, examples: slice, queries: slice, heads: slice = slice(None), keys: slice = slice(None)
) -> Tensor:
    """The part of a mask, or of another bias on the scores, that belongs to a block; axes of size 1 stay.

    It is finite, also times any small factor, so that attention of 0 times a masked score is 0.
    """
    rows: Callable[[slice, slice, slice], Tensor] | None = getattr(bias, "rows", None)
    single = slice(None)
    parts = zip(bias.shape, (examples, heads, queries, keys), strict=True)
    part = rows(examples, queries, keys) if rows else bias[tuple(part if size > 1 else single for size, part in parts)]
    return part.clamp_min(floor_of(bias.dtype))


def seen_block(
    mask: Tensor, examples: slice, queries: slice
) -> tuple[Bool[Tensor, "example head query key"], Bool[Tensor, "example head query key"]]:
    """The keys that some queries see, and those where the mask is 0; axes of size 1 stay."""
    if lazy := getattr(mask, "seen", None):
        seen = lazy(examples, queries, slice(None))
        return seen, seen
    part = mask_block(mask, examples, queries)
    return part > floor_of(part.dtype) / 2, part == 0


def floor_of(dtype: torch.dtype) -> float:
    """The lowest number of a mask in blocks."""
    return max(MASKED, torch.finfo(dtype).min)


def _rows(
    make: Callable[..., Tensor],
    examples: slice,
    queries: slice,
    keys: slice,
    *,
    kv_length: int,
    q_offset: int,
    mask_function: Callable = causal_mask_function,
    attention_mask: Tensor | None = None,
    **keywords: Any,
) -> Tensor:
    def from_first(example: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return mask_function(example + examples.start, head, query, key)

    first, last, _ = keys.indices(kv_length)
    keywords |= {"allow_is_bidirectional_skip": False, "allow_is_causal_skip": False}
    keywords["kv_offset"] = keywords.get("kv_offset", 0) + first
    return make(
        batch_size=examples.stop - examples.start,
        q_length=queries.stop - queries.start,
        q_offset=q_offset + queries.start,
        kv_length=last - first,
        mask_function=from_first,
        attention_mask=None if attention_mask is None else attention_mask[examples],
        **keywords,
    )
