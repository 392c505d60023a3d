"""Attention for statistics alone, in few passes over a block: the scores of eager attention, up to the order of sums.

Two blocks of memory serve all blocks of a layer, since new memory costs more than what is computed in it.
"""

import math
from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.attention_mask import mask_block
from headscope.capture.key_ranges import key_ranges, ranged_blocks
from headscope.capture.observer import RowEntropy
from headscope.capture.softmax import power_softmax, shifted

Show = Callable[[Float[Tensor, "example head query key"], slice, slice, RowEntropy, slice, slice], None]


def fast_attention(
    query: Float[Tensor, "example head query width"],
    key: Float[Tensor, "example head key width"],
    value: Float[Tensor, "example head key value_width"],
    scale: float,
    softcap: float | None,
    biases: Iterable[Tensor],
    mask: Tensor | None,
    show: Show,
) -> Float[Tensor, "example query head value_width"]:
    """The output of attention; each block of its probabilities goes to `show`, and is overwritten after it.

    * `mask`: which keys each query sees, added to the scores as the other `biases` are. Keys that no query of a block
      sees are not computed.
    """
    examples_, heads_, length, _ = query.shape
    output = value.new_empty(examples_, heads_, length, value.shape[-1])
    # [example_head, token, width]: states in the order in which a matrix product reads them.
    query, key, value, rows = [states.contiguous().flatten(0, 1) for states in (query, key, value, output)]
    ranges = key_ranges(mask, examples_, length, key.shape[1])
    every = list(ranged_blocks(ranges, examples_, heads_, length, key.shape[1], query.device))
    most = max((_cells(*block) for block in every), default=0)
    memory = query.new_empty(2, most, dtype=torch.promote_types(query.dtype, torch.float32))
    for examples, heads, queries, keys in every:
        size = [part.stop - part.start for part in (examples, heads, queries, keys)]
        scores, attention = memory[:, : _cells(examples, heads, queries, keys)].view(2, *size)
        maps = slice(examples.start * heads_ + heads.start, (examples.stop - 1) * heads_ + heads.stop)
        _write_scores(scores.flatten(0, 1), query[maps, queries], key[maps, keys].mT, scale, softcap)
        for bias in biases:
            scores += mask_block(bias, examples, queries, heads, keys)
        entropy = power_softmax(shifted(scores), attention)
        torch.bmm(attention.flatten(0, 1).to(value.dtype), value[maps, keys], out=rows[maps, queries])
        show(attention, examples, queries, entropy, heads, keys)
    return output.transpose(1, 2)


def _cells(*parts: slice) -> int:
    return math.prod(part.stop - part.start for part in parts)


def _write_scores(scores: Tensor, query: Tensor, key: Tensor, scale: float, softcap: float | None) -> None:
    # The scale goes last, as in eager attention: a scaled query would round in another way.
    if query.dtype == scores.dtype:
        torch.bmm(query, key, out=scores)
    else:
        scores.copy_(query @ key)
    scores *= scale
    if softcap is not None:
        scores.div_(softcap).tanh_().mul_(softcap)
