"""Counts of each sentence, from which all scores are made: some kilobytes a sentence, no map."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from headscope.linguistics.fixed_words import FixedWord
from headscope.statistics.columns import Columns

METRICS = ("uas", "uuas")
FAR = range(1, 11)
# The fixed words that are tried as a baseline; of equals the first is taken.
FIXED = (
    *(FixedWord(sign * offset) for offset in FAR for sign in (-1, 1)),
    *(FixedWord(position=sign * position) for position in FAR for sign in (1, -1)),
)
NEXT, PREVIOUS = FIXED.index(FixedWord(1)), FIXED.index(FixedWord(-1))
ROOTS, SPECIAL_TOKENS = ("gold", "best", "undirected"), ("kept", "left_out")
DISTANCES = ("jensen_shannon", "hellinger")
SIMPLE = ("right_branching", "left_branching", "balanced", "random")


@dataclass(frozen=True)
class TreeRows(Columns):
    """A row for each sentence of two words or more; a unit is a head, the mean of a layer, or that of all heads.

    * `input`: the number of the input that the sentence is in; `number`: its own number there.
    * `words`: words that are scored: neither root nor punctuation; `rooted`: whether its root is annotated.
    * `uas`, `uuas`: how many of them get their syntactic head, or are linked with it in whatever direction; the last
      axis is `ROOTS`. A tree without a root has no `uas`: 0.
    * `root`: whether the root of the best tree is the gold root.
    * `fixed`: how many of the words get their head, or are linked with it, where each of `FIXED` is every word's head.
    * `bracketed`: whether the sentence has phrases to find; `f1`: of the trees of each unit by each of `DISTANCES`;
      `simple_f1`: of the trees of `SIMPLE`.
    """

    input: Int[np.ndarray, " sentence"]
    number: Int[np.ndarray, " sentence"]
    words: Int[np.ndarray, " sentence"]
    rooted: Bool[np.ndarray, " sentence"]
    uas: UInt[np.ndarray, "sentence unit direction special_tokens root"]
    uuas: UInt[np.ndarray, "sentence unit direction special_tokens root"]
    root: Bool[np.ndarray, "sentence unit direction special_tokens"]
    fixed: UInt[np.ndarray, "sentence metric fixed_word"]
    bracketed: Bool[np.ndarray, " sentence"]
    f1: Float[np.ndarray, "sentence unit distance special_tokens"]
    simple_f1: Float[np.ndarray, "sentence tree"]


def joined(parts: Sequence[TreeRows]) -> TreeRows:
    """The rows of several batches, in the order of the corpus."""
    whole = TreeRows.concatenate(parts)
    return whole[np.lexsort((whole.number, whole.input))]
