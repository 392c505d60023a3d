"""Baselines without a model: the head of each word is the one at a fixed offset, or at a fixed position."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from headscope.linguistics.dependencies import ROOT

Words = Int[np.ndarray, " word"]


class FixedWord(NamedTuple):
    """The word at an offset from each word, or at a position of its sentence.

    * `position`: 1 is the first word, 2 the second, -1 the last; 0 where the word is at an offset.
    """

    offset: int = 0
    position: int = 0

    def places(self, places: Words, lengths: Words) -> Words:
        """The place of this word for each word, from 0; a place outside of the sentence is none.

        >>> places, lengths = np.array([0, 1, 2]), np.array([3, 3, 3])
        >>> FixedWord(1).places(places, lengths).tolist(), FixedWord(position=-1).places(places, lengths).tolist()
        ([1, 2, 3], [2, 2, 2])
        """
        if not self.position:
            return places + self.offset
        return lengths + self.position if self.position < 0 else np.full_like(places, self.position - 1)


def best_fixed_word(places: Words, heads: Words, lengths: Words) -> FixedWord:
    """The fixed word that is the head of most words; every offset and every position from either end is tried.

    Of equals an offset before a position, then the nearest (to the word, to the end), then the one to the left.

    * `places`, `heads`: of words and their heads in sentences of these lengths; the head of a root is `ROOT`.

    >>> best_fixed_word(np.array([0, 1, 3]), np.array([2, 2, 2]), np.array([5, 5, 5]))
    FixedWord(offset=0, position=3)
    """
    places, heads, lengths = (column[heads != ROOT] for column in (places, heads, lengths))
    ranked = [
        (-count, kind, abs(number), number)
        for kind, numbers in enumerate((heads - places, heads + 1, heads - lengths))
        for number, count in zip(*(each.tolist() for each in np.unique(numbers, return_counts=True)), strict=True)
    ]
    _, kind, _, number = min(ranked, default=(0, 0, 0, 0))
    return FixedWord(position=number) if kind else FixedWord(number)
