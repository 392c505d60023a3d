"""Accuracies of heads with intervals, their baseline, tests, and the best head of one half scored on the other."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import better
from headscope.statistics.split_half import BestHead, Selection, best_head, halves
from headscope.studies.syntax.fixed_offset import best_offset, hits
from headscope.studies.syntax.predictions import HeadPredictions

Draws = UInt8[np.ndarray, "resample input"]
# Rows of the held-out scores of a best head.
HELD_OUT = ("accuracy", "baseline", "gain")


@dataclass(frozen=True)
class RelationScore:
    """Scores of all heads for one relation.

    * `accuracy`: tally of the words whose syntactic head each head predicts, heads of all layers in a row,
      [head, direction].
    * `offset`, `baseline`: the best fixed offset on the same words, and the tally of the words that it predicts.
    * `p`: p-value that a head is no better than that offset, [head, direction].
    * `held_out_gain`: accuracy in one half of the inputs less that of the offset that is best in the other half,
      [head, direction]; NaN where a half has no word.
    """

    accuracy: Tally
    offset: int
    baseline: Tally
    p: Float[np.ndarray, "head direction"]
    held_out_gain: Float[np.ndarray, "head direction"]


def score(
    words: HeadPredictions, heads: int, draws: Draws, selection_half: Bool[np.ndarray, " input"], as_coded: bool = False
) -> RelationScore:
    """The scores of `heads` heads on the words of a relation.

    * `draws`: how often each resample has each input.
    * `selection_half`: mask of the inputs in which the offset of `held_out_gain` is selected; see `best`.
    """
    right, offset = words.unpacked(heads), best_offset(words, as_coded)
    baseline = hits(words, offset, as_coded)
    both, alone = right[baseline].sum(0, dtype=np.int64), right[~baseline].sum(0, dtype=np.int64)
    return RelationScore(
        tally_by_input(right, words.input, draws),
        offset,
        tally_by_input(baseline[:, None], words.input, draws),
        better(alone, baseline.sum() - both),
        _held_out_gain(words, heads, None if as_coded else selection_half[words.input], as_coded),
    )


def _held_out_gain(
    words: HeadPredictions, heads: int, in_selection_half: Bool[np.ndarray, " word"] | None, as_coded: bool
) -> Float[np.ndarray, "head direction"]:
    first, second = halves(words, in_selection_half)
    right = second.unpacked(heads).sum(0, dtype=np.int64)
    if not (len(first) and len(second)):
        return np.full(right.shape, np.nan)
    return (right - hits(second, best_offset(first, as_coded), as_coded).sum()) / len(second)


def best(
    words: HeadPredictions, heads: int, draws: Draws, selection_half: Bool[np.ndarray, " input"], as_coded: bool = False
) -> BestHead | None:
    """The head, direction and offset that are best in the inputs of `selection_half`, scored in the others.

    * `as_coded`: select and score on all inputs, as the released code does.

    Returns: the best head with the scores of `HELD_OUT`; None where one of the halves has no word.
    """

    def select(words: HeadPredictions) -> Selection:
        sums = words.unpacked(heads).sum(0, dtype=np.int64)
        head, direction = np.unravel_index(sums.argmax(), sums.shape)
        return Selection(int(head), int(direction), best_offset(words, as_coded))

    def evaluate(words: HeadPredictions, selected: Selection) -> Tally:
        right = words.unpacked(heads)[:, selected.head, selected.direction].astype(np.int64)
        baseline = hits(words, selected.baseline, as_coded).astype(np.int64)
        return tally_by_input(np.stack([right, baseline, right - baseline], axis=1), words.input, draws)

    return best_head(words, None if as_coded else selection_half[words.input], select, evaluate)
