"""Weights of the attention between the words of two segments, whose weighted sums are measures of a pair.

A word's copies are the words of the other segment that are written as it is, but for their case. Each pair of a word
and a copy is compared with all pairs of other words that are as far apart, in words and in the same direction, and with
the attention that the copy gets from the other words of the first word's segment: what is looked at is then as frequent
as the copy, since it is the copy. To a word goes the sum over its tokens, from a word the mean over them.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headscope.encoding.word_tokens import NO_FORM
from headscope.results.vocabulary import SEGMENTS, WORD_PAIRS

SUMS = len(WORD_PAIRS) + len(SEGMENTS)
Words = Float[Tensor, "example word word"]


class PairSums(NamedTuple):
    """What attention is multiplied by, and which examples have these sums.

    * `weights`: of `WORD_PAIRS`, then of `SEGMENTS`; attention times these, added up, is the mean over an example.
    * `has_copies`, `is_pair`: which examples have words with copies that can be compared, and two segments.
    """

    weights: Float[Tensor, "example query key sum"]
    has_copies: Bool[Tensor, " example"]
    is_pair: Bool[Tensor, " example"]


def pair_sums(rows: Int[Tensor, "pair_row 5"], shape: tuple[int, int]) -> PairSums:
    """The weights of a batch of this many examples and tokens; `rows`: see `Batch.pair_words`."""
    example, word, form, segment, token = rows.unbind(-1)
    n_words = int(word.max()) + 1 if len(rows) else 0
    tokens = rows.new_zeros(*shape, n_words, dtype=torch.float32)
    tokens[example, token, word] = 1
    forms, segments = rows.new_full((2, shape[0], n_words), NO_FORM).unbind(0)
    forms[example, word], segments[example, word] = form, segment
    by_word, has_copies = _of_words(forms, segments)
    sources = (tokens / tokens.sum(1, keepdim=True).clamp_min(1))[:, None]
    to_copies = sources @ by_word @ tokens[:, None].mT  # [example, sum, query, key]
    by_segment = torch.stack([(tokens @ (segments == number)[:, :, None].float())[..., 0] > 0 for number in (0, 1)], -1)
    weights = torch.cat([to_copies, _of_segments(by_segment.float())], dim=1)
    return PairSums(weights.movedim(1, -1), has_copies, by_segment.any(1).all(-1))


def _of_words(
    forms: Int[Tensor, "example word"], segments: Int[Tensor, "example word"]
) -> tuple[Float[Tensor, "example sum word word"], Bool[Tensor, " example"]]:
    """The weights of pairs of words; a word without a form is in none of them."""
    has_form = forms != NO_FORM
    across = has_form[:, :, None] & has_form[:, None] & (segments[:, :, None] != segments[:, None])
    same = across & (forms[:, :, None] == forms[:, None])
    other = (across & ~same).float()
    number = torch.arange(forms.shape[1], device=forms.device)
    # Words of the second segment have the higher numbers: a distance has one direction.
    groups = (number - number[:, None] + forms.shape[1], number.expand(forms.shape[1], -1))
    compared = same
    for group in groups:
        compared = compared & (_total(other, group) > 0)
    copies = compared.float() / compared.sum(-1, keepdim=True).clamp_min(1)
    n_words = compared.any(-1).sum(-1)
    baselines = [other * _total(copies, group) / _total(other, group).clamp_min(1) for group in groups]
    return torch.stack([copies, *baselines], 1) / n_words.clamp_min(1)[:, None, None, None], n_words > 0


def _total(values: Words, group: Int[Tensor, "word word"]) -> Words:
    """For each pair of words the sum of the values of its group."""
    flat, index = values.flatten(1), group.flatten().expand(len(values), -1)
    totals = flat.new_zeros(len(flat), 2 * len(group) + 1).scatter_add(1, index, flat)
    return totals.gather(1, index).view_as(values)


def _of_segments(members: Float[Tensor, "example token segment"]) -> Float[Tensor, "example sum query key"]:
    """The weights of words' tokens in the segment of the query, and in the other one."""
    share = members / members.sum((1, 2), keepdim=True).clamp_min(1)
    return torch.stack([share @ members.mT, share @ members.flip(-1).mT], dim=1)
