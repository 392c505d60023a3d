"""Attention for statistics alone, in few passes over a block: the scores of eager attention, up to the order of sums.

Two blocks of memory serve all blocks of a layer, since new memory costs more than what is computed in it.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.attention_mask import mask_block
from headscope.capture.key_ranges import key_ranges, mask_parts, ranged_blocks
from headscope.capture.observer import RowEntropy
from headscope.capture.softmax import power_softmax

Show = Callable[[Float[Tensor, "example head query key"], slice, slice, RowEntropy, slice, slice], None]


def fast_attention(
    query: Float[Tensor, "example head query width"],
    key: Float[Tensor, "example key_head key width"],
    value: Float[Tensor, "example key_head key value_width"],
    scale: float,
    softcap: float | None,
    bias: Tensor | None,
    mask: Tensor | None,
    show: Show,
) -> Float[Tensor, "example query head value_width"]:
    """The output of attention; each block of its probabilities goes to `show`, and is overwritten after it.

    * `mask`: which keys each query sees, added to the scores as `bias` is. Keys that no query of a block sees are not
      computed.
    """
    examples_, heads_, length, _ = query.shape
    group = max(1, heads_ // max(1, key.shape[1]))  # a pruned layer may have no head
    output = value.new_empty(examples_, length, heads_, value.shape[-1])
    # [example_head, token, width]: states in the order in which a matrix product reads them.
    query, key, value = [states.contiguous().flatten(0, 1) for states in (query, key, value)]
    ranges = key_ranges(mask, examples_, length, key.shape[1])
    blocks = list(ranged_blocks(ranges, examples_, heads_, length, key.shape[1], query.device, group=group))
    most = max((_cells(*block) for block in blocks), default=0)
    memory = query.new_empty(2, most, dtype=torch.promote_types(query.dtype, torch.float32))
    for examples, heads, queries, keys in blocks:
        size = [part.stop - part.start for part in (examples, heads, queries, keys)]
        scores, attention = memory[:, : _cells(examples, heads, queries, keys)].view(2, *size)
        maps = slice(examples.start * heads_ + heads.start, (examples.stop - 1) * heads_ + heads.stop)
        shared = slice(maps.start // group, -(-maps.stop // group))
        # [example_key_head, queries of its heads, key]: the same memory as [example_head, query, key].
        by_key_head = (groups := shared.stop - shared.start, math.prod(size[:3]) // max(1, groups))
        _write_products(
            scores.view(*by_key_head, size[3]),
            query[maps, queries].reshape(*by_key_head, query.shape[-1]),
            key[shared, keys].mT,
        )
        if softcap is not None:
            scores.mul_(scale / softcap).tanh_().mul_(softcap / scale)
        # The softmax scales: what is added before it is divided by the scale.
        if bias is not None:
            scores.add_(mask_block(bias, examples, queries, heads, keys), alpha=1 / scale)
        for columns, part in mask_parts(mask, ranges, examples, queries, heads):
            scores[..., columns].add_(part, alpha=1 / scale)
        entropy = power_softmax(scores, attention, scale)
        contexts = torch.bmm(attention.view(*by_key_head, size[3]).to(value.dtype), value[shared, keys])
        output[examples, queries, heads] = contexts.view(*size[:3], value.shape[-1]).transpose(1, 2)
        show(attention, examples, queries, entropy, heads, keys)
    return output


def _cells(*parts: slice) -> int:
    return math.prod(part.stop - part.start for part in parts)


def _write_products(products: Tensor, query: Tensor, key: Tensor) -> None:
    if query.dtype == products.dtype:
        torch.bmm(query, key, out=products)
    else:
        products.copy_(query @ key)
