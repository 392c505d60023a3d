"""Attention for statistics alone, in few passes over a block: the scores of eager attention, up to the order of sums.

Two blocks of memory serve all blocks of a layer, since new memory costs more than what is computed in it.
"""

import math
from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.attention_mask import mask_block
from headscope.capture.observer import RowEntropy, blocks
from headscope.capture.softmax import power_softmax, shifted

Show = Callable[[Float[Tensor, "example head query key"], slice, slice, RowEntropy, slice], None]


def fast_attention(
    query: Float[Tensor, "example head query width"],
    key: Float[Tensor, "example head key width"],
    value: Float[Tensor, "example head key value_width"],
    scale: float,
    softcap: float | None,
    biases: Iterable[Tensor],
    show: Show,
) -> Float[Tensor, "example query head value_width"]:
    """The output of attention; each block of its probabilities goes to `show`, and is overwritten after it."""
    examples_, heads_, length, _ = query.shape
    output = value.new_empty(examples_, heads_, length, value.shape[-1])
    # [example_head, token, width]: states in the order in which a matrix product reads them.
    query, key, value, rows = [states.contiguous().flatten(0, 1) for states in (query, key, value, output)]
    keys, memory = key.shape[1], None
    for examples, heads, queries in blocks(examples_, heads_, length, keys, query.device, some_heads=True):
        size = (examples.stop - examples.start, heads.stop - heads.start, queries.stop - queries.start, keys)
        if memory is None:  # the first block is the largest
            memory = query.new_empty(2, math.prod(size), dtype=torch.promote_types(query.dtype, torch.float32))
        scores, attention = memory[:, : math.prod(size)].view(2, *size)
        maps = slice(examples.start * heads_ + heads.start, (examples.stop - 1) * heads_ + heads.stop)
        _write_scores(scores.flatten(0, 1), query[maps, queries], key[maps].mT, scale, softcap)
        for bias in biases:
            scores += mask_block(bias, examples, queries, heads)
        entropy = power_softmax(shifted(scores), attention)
        torch.bmm(attention.flatten(0, 1).to(value.dtype), value[maps], out=rows[maps, queries])
        show(attention, examples, queries, entropy, heads)
    return output.transpose(1, 2)


def _write_scores(scores: Tensor, query: Tensor, key: Tensor, scale: float, softcap: float | None) -> None:
    # The scale goes last, as in eager attention: a scaled query would round in another way.
    if query.dtype == scores.dtype:
        torch.bmm(query, key, out=scores)
    else:
        scores.copy_(query @ key)
    scores *= scale
    if softcap is not None:
        scores.div_(softcap).tanh_().mul_(softcap)
