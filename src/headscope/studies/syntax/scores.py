"""Accuracies of heads with intervals, their baseline, tests, and the best head of one half scored on the other."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.linguistics.fixed_words import FixedWord
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import better
from headscope.statistics.split_half import BestHead, Selection, best_head, halves
from headscope.studies.syntax.predictions import HeadPredictions, best_baseline, hits

Draws = UInt8[np.ndarray, "resample input"]
# Rows of the held-out scores of a best head.
HELD_OUT = ("accuracy", "baseline", "gain")


@dataclass(frozen=True)
class RelationScore:
    """Scores of all heads for one relation.

    * `accuracy`: tally of the words whose syntactic head each head predicts, heads of all layers in a row,
      [head, direction].
    * `fixed`, `baseline`: the best fixed word for the same words, and the tally of the words that it predicts.
    * `p`: p-value that a head is no better than that, [head, direction].
    * `held_out_gain`: accuracy in one half of the inputs less that of the fixed word that is best in the other half,
      [head, direction]; NaN where a half has no word.
    """

    accuracy: Tally
    fixed: FixedWord
    baseline: Tally
    p: Float[np.ndarray, "head direction"]
    held_out_gain: Float[np.ndarray, "head direction"]


def score(
    words: HeadPredictions, draws: Draws, selection_half: Bool[np.ndarray, " input"], as_coded: bool = False
) -> RelationScore:
    """The scores of all heads on the words of a relation.

    * `draws`: how often each resample has each input.
    * `selection_half`: mask of the inputs in which the fixed word of `held_out_gain` is selected; see `best`.
    """
    shares, fixed = words.shares, best_baseline(words, as_coded)
    baseline = hits(words, fixed, as_coded)
    alone, both = (shares[rows].sum(0, dtype=np.float64).round(3) for rows in (~baseline, baseline))
    return RelationScore(
        tally_by_input(shares, words.input, draws),
        fixed,
        tally_by_input(baseline[:, None], words.input, draws),
        # Shares make parts of words: they count against the head.
        better(np.floor(alone), baseline.sum() - np.floor(both)),
        _held_out_gain(words, None if as_coded else selection_half[words.input], as_coded),
    )


def _held_out_gain(
    words: HeadPredictions, in_selection_half: Bool[np.ndarray, " word"] | None, as_coded: bool
) -> Float[np.ndarray, "head direction"]:
    first, second = halves(words, in_selection_half)
    right = second.shares.sum(0, dtype=np.float64)
    if not (len(first) and len(second)):
        return np.full(right.shape, np.nan)
    return (right - hits(second, best_baseline(first, as_coded), as_coded).sum()) / len(second)


def best(
    words: HeadPredictions, draws: Draws, selection_half: Bool[np.ndarray, " input"], as_coded: bool = False
) -> BestHead | None:
    """The head, direction and fixed word that are best in the inputs of `selection_half`, scored in the others.

    * `as_coded`: select and score on all inputs, as the released code does.

    Returns: the best head with the scores of `HELD_OUT`; None where one of the halves has no word.
    """

    def select(words: HeadPredictions) -> Selection:
        sums = words.shares.sum(0, dtype=np.float64)
        head, direction = np.unravel_index(sums.argmax(), sums.shape)
        return Selection(int(head), int(direction), best_baseline(words, as_coded))

    def evaluate(words: HeadPredictions, selected: Selection) -> Tally:
        right = words.shares[:, selected.head, selected.direction].astype(np.float64)
        baseline = hits(words, selected.baseline, as_coded).astype(np.float64)
        return tally_by_input(np.stack([right, baseline, right - baseline], axis=1), words.input, draws)

    return best_head(words, None if as_coded else selection_half[words.input], select, evaluate)
