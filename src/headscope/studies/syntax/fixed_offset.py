"""The baseline of Clark et al. 2019: the head of a word is the one at a fixed offset, the best for its relation."""

import numpy as np
from jaxtyping import Bool

from headscope.linguistics.dependencies import ROOT
from headscope.studies.syntax.predictions import HeadPredictions

AS_CODED = range(-3, 3)


def hits(words: HeadPredictions, offset: int, as_coded: bool = False) -> Bool[np.ndarray, " word"]:
    """For which words the head stands at this offset.

    An offset that leads out of the sentence is wrong; the released code stops at the sentence's ends.
    """
    predicted = words.place + offset
    if as_coded:
        predicted = np.clip(predicted, 0, words.length - 1)
    return (predicted == words.head) & (words.head != ROOT)


def best_offset(words: HeadPredictions, as_coded: bool = False) -> int:
    """The offset that is right for most of the words; of equals the nearest, then the one to the left.

    All offsets at which a head stands are tried, so that no other is better; the released code tries -3 to 2.
    """
    linked = words[words.head != ROOT]
    tried = AS_CODED if as_coded else np.unique(linked.head - linked.place).tolist()
    ranked = [(-int(hits(words, offset, as_coded).sum()), abs(offset), offset) for offset in tried]
    return min(ranked)[2] if ranked else 0
