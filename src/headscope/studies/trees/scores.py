"""Scores of all units with intervals, and the best head of one half of the inputs scored on the other half."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.split_half import BestHead, Selection, best_head
from headscope.studies.trees.rows import NEXT, OFFSETS, PREVIOUS, TreeRows

METRICS = ("uas", "uuas")
# Rows of the held-out scores of a best head: its own, then baselines, then its gain over the fixed offset.
HELD_OUT = ("chosen", "right_branching", "left_branching", "fixed_offset", "gain")


@dataclass(frozen=True)
class Split:
    """The bootstrap draws of the inputs, and the mask of the half on which heads are chosen."""

    draws: UInt8[np.ndarray, "resample input"]
    selection_half: Bool[np.ndarray, " input"]


def joined(parts: Sequence[TreeRows]) -> TreeRows:
    """The rows of several batches, in the order of the corpus."""
    whole = TreeRows.concatenate(parts)
    return whole[np.lexsort((whole.number, whole.input))]


def tally_of(values: np.ndarray, cases: np.ndarray, rows: TreeRows, split: Split) -> Tally:
    """The tally of sums [sentence, *dims] over `cases` of each sentence; the dimensions of the tally are one."""
    flat = values.reshape(len(rows), -1)  # [sentence, all dimensions]
    return tally_by_input(flat, rows.input, split.draws, cases)


def best_attachments(
    rows: TreeRows, heads: int, split: Split, metric: str, special_tokens: int, root: int
) -> BestHead | None:
    """The head and direction with the highest UAS or UUAS in one half, and the best offset, scored in the other half.

    Returns: the held-out scores of `HELD_OUT`; None where one of the halves has no word.
    """

    def select(rows: TreeRows) -> Selection:
        sums = getattr(rows, metric)[:, :heads, :, special_tokens, root].sum(0, dtype=np.int64)
        head, direction = np.unravel_index(sums.argmax(), sums.shape)
        return Selection(int(head), int(direction), best_offset(rows, metric))

    def evaluate(rows: TreeRows, selected: Selection) -> Tally:
        chosen = getattr(rows, metric)[:, selected.head, selected.direction, special_tokens, root].astype(np.int64)
        places = (NEXT, PREVIOUS, selected.baseline)
        simple = [at_offset(rows, metric, place) for place in places]
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


def at_offset(rows: TreeRows, metric: str, place: int) -> np.ndarray:
    """How many words of each sentence have their head at an offset; for UUAS, at that distance on either side."""
    counts = rows.offsets[:, place].astype(np.int64)
    return counts + rows.offsets[:, -1 - place] if metric == "uuas" and OFFSETS[place] else counts


def best_offset(rows: TreeRows, metric: str) -> int:
    """The place in `OFFSETS` of the offset of most heads; of equals the nearest, then the one to the left."""
    sums = [int(at_offset(rows, metric, place).sum()) for place in range(len(OFFSETS))]
    return min(range(len(OFFSETS)), key=lambda place: (-sums[place], abs(OFFSETS[place]), OFFSETS[place]))


def by_unit(flat: Float[np.ndarray, " all"], units: int, *dims: int) -> np.ndarray:
    """Means or intervals of a tally with the dimensions that `tally_of` has made one, [unit, *dims]."""
    return flat.reshape(units, *dims)
