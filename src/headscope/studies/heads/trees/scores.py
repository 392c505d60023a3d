"""Counts of each sentence, from which all scores are made; the scores of all units, and the best heads."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from headscope.linguistics.dependencies import FixedWord
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.columns import Columns
from headscope.statistics.split_half import BestHead, Selection, Split, best_head

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

    * `input`: the number of the input that the sentence is in; `number`: its own number there; `unit`: of its document,
      or of the input.
    * `words`: words that are scored: neither root nor punctuation; `rooted`: whether its root is annotated.
    * `uas`, `uuas`: how many of them get their syntactic head, or are linked with it in whatever direction; the last
      axis is `ROOTS`. A tree without a root has no `uas`: 0.
    * `root`: whether the root of the best tree is the gold root.
    * `fixed`: how many of the words get their head, or are linked with it, where each of `FIXED` is every word's head.
    * `bracketed`: whether the sentence has phrases to find; `f1`: of the trees of each unit by each of `DISTANCES`;
      `simple_f1`: of the trees of `SIMPLE`.
    """

    ORDER = ("input", "number")

    input: Int[np.ndarray, " sentence"]
    number: Int[np.ndarray, " sentence"]
    unit: Int[np.ndarray, " sentence"]
    words: Int[np.ndarray, " sentence"]
    rooted: Bool[np.ndarray, " sentence"]
    uas: UInt[np.ndarray, "sentence unit direction special_tokens root"]
    uuas: UInt[np.ndarray, "sentence unit direction special_tokens root"]
    root: Bool[np.ndarray, "sentence unit direction special_tokens"]
    fixed: UInt[np.ndarray, "sentence metric fixed_word"]
    bracketed: Bool[np.ndarray, " sentence"]
    f1: Float[np.ndarray, "sentence unit distance special_tokens"]
    simple_f1: Float[np.ndarray, "sentence tree"]


# Rows of the held-out scores of a best head: its own, then baselines, then its gain over the fixed word.
HELD_OUT = ("chosen", "right_branching", "left_branching", "fixed_word", "gain")


def tally_of(values: np.ndarray, cases: np.ndarray, rows: TreeRows, split: Split) -> Tally:
    """The tally of sums [sentence, *dims] over `cases` of each sentence; the dimensions of the tally are one."""
    flat = values.reshape(len(rows), -1)  # [sentence, all dimensions]
    return tally_by_input(flat, rows.input, split.draws, cases)


def best_attachments(
    rows: TreeRows, heads: int, split: Split, metric: str, special_tokens: int, root: int
) -> BestHead | None:
    """The head and direction with the highest UAS or UUAS in one half, and the best fixed word, scored in the other.

    Returns: the held-out scores of `HELD_OUT`; None where one of the halves has no word.
    """

    def select(rows: TreeRows) -> Selection:
        sums = getattr(rows, metric)[:, :heads, :, special_tokens, root].sum(0, dtype=np.int64)
        head, direction = np.unravel_index(sums.argmax(), sums.shape)
        return Selection(int(head), int(direction), int(of_fixed_words(rows, metric).sum(0).argmax()))

    def evaluate(rows: TreeRows, selected: Selection) -> Tally:
        chosen = getattr(rows, metric)[:, selected.head, selected.direction, special_tokens, root].astype(np.int64)
        simple = of_fixed_words(rows, metric)[:, [NEXT, PREVIOUS, selected.baseline]].T
        return tally_of(np.stack([chosen, *simple, chosen - simple[-1]], axis=1), rows.words, rows, split)

    rows = rows[rows.words > 0]
    return best_head(rows, split.selection_half[rows.input], select, evaluate)


def best_phrases(rows: TreeRows, heads: int, split: Split, distance: int, special_tokens: int) -> BestHead | None:
    """The head with the highest F1 in one half, scored in the other half beside the right-branching tree.

    Returns: the held-out scores: the head's own, and its gain over right-branching; None where a half has no phrases.
    """

    def select(rows: TreeRows) -> Selection:
        return Selection(int(rows.f1[:, :heads, distance, special_tokens].sum(0, dtype=np.float64).argmax()))

    def evaluate(rows: TreeRows, selected: Selection) -> Tally:
        chosen = rows.f1[:, selected.head, distance, special_tokens].astype(np.float64)
        values = np.stack([chosen, chosen - rows.simple_f1[:, 0]], axis=1)
        return tally_of(values, np.ones(len(rows), dtype=np.int64), rows, split)

    rows = rows[rows.bracketed]
    return best_head(rows, split.selection_half[rows.input], select, evaluate)


def of_fixed_words(rows: TreeRows, metric: str) -> Int[np.ndarray, "sentence fixed_word"]:
    """How many words of each sentence get their head, or are linked with it, by each of `FIXED`."""
    return rows.fixed[:, METRICS.index(metric)].astype(np.int64)
