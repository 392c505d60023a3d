"""Trees that need no model: the head of a word is the next word, or the one at the best fixed offset."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from jaxtyping import Int

from headscope.linguistics.parsed_sentences import ROOT, Parsed

NEXT = 1


def at_offset(words: int, offset: int) -> Int[np.ndarray, " word"]:
    """The heads of a sentence's words, counted from 1, at a fixed offset; ROOT where that leads out of the sentence.

    At offset 1 this is the right-branching tree.

    >>> at_offset(4, NEXT).tolist(), at_offset(4, -2).tolist()
    ([2, 3, 4, 0], [0, 0, 1, 2])
    """
    heads = np.arange(1, words + 1) + offset
    return np.where((heads < 1) | (heads > words), ROOT, heads)


def best_offset(sentences: Iterable[Parsed]) -> int:
    """The offset of most heads, punctuation left out; of equals the nearest, then the one to the left."""
    counts: Counter[int] = Counter()
    for sentence in sentences:
        away = sentence.heads - np.arange(1, len(sentence) + 1)
        counts.update(away[(sentence.relations != "punct") & (sentence.heads > ROOT)].tolist())
    return min(counts, key=lambda offset: (-counts[offset], abs(offset), offset), default=NEXT)
