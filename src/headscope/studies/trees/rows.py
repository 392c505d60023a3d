"""Counts of each sentence, from which all scores are made: some kilobytes a sentence, no map."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from headscope.statistics.columns import Columns

# Offsets of the syntactic head that are tried as a baseline, and their order in `TreeRows.offsets`.
OFFSETS = tuple(range(-10, 11))
NEXT, PREVIOUS = OFFSETS.index(1), OFFSETS.index(-1)
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
    * `offsets`: how many of the words have their head at each of `OFFSETS`.
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
    offsets: UInt[np.ndarray, "sentence offset"]
    bracketed: Bool[np.ndarray, " sentence"]
    f1: Float[np.ndarray, "sentence unit distance special_tokens"]
    simple_f1: Float[np.ndarray, "sentence tree"]
