"""From answers to scores: accuracies with intervals, the baseline, tests, and heads chosen apart from their score."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import better
from headscope.statistics.split_half import summed
from headscope.studies.syntax.fixed_offset import best_offset, hits
from headscope.studies.syntax.predictions import Answers

# Sentences are resampled so many at a time.
TOGETHER = 4096
Draws = UInt8[np.ndarray, "resample input"]


@dataclass(frozen=True)
class Score:
    """What the heads of a model know of one relation.

    * `accuracy`: a tally of the words that each head gets right, heads of all layers in a row, [head, direction].
    * `offset`, `baseline`: the fixed offset that is best on the same words, and the tally of those it gets right.
    * `p`: of each head being no better than that offset, [head, direction].
    """

    accuracy: Tally
    offset: int
    baseline: Tally
    p: Float[np.ndarray, "head direction"]


@dataclass(frozen=True)
class Chosen:
    """The best head and offset on one half of the inputs, scored on the other.

    * `head`: in the row of all heads, and `direction`: its number in `results.DIRECTIONS`.
    * `held_out`: a tally of three rows: the words that the head gets right, those that the offset gets right, and
      how many more the head gets right than the offset.
    """

    head: int
    direction: int
    offset: int
    held_out: Tally


def score(words: Answers, heads: int, draws: Draws, as_coded: bool = False) -> Score:
    """The score of each head on these words; `draws` says how often each resample has each input."""
    right, offset = words.unpacked(heads), best_offset(words, as_coded)
    baseline = hits(words, offset, as_coded)
    both, alone = right[baseline].sum(0, dtype=np.int64), right[~baseline].sum(0, dtype=np.int64)
    return Score(
        summed(right, words.input, draws),
        offset,
        summed(baseline[:, None], words.input, draws),
        better(alone, baseline.sum() - both),
    )


def chosen(
    words: Answers, heads: int, draws: Draws, choosing: Bool[np.ndarray, " input"], as_coded: bool = False
) -> Chosen | None:
    """The head, direction and offset that are best in the inputs of `choosing`, scored in the others.

    `as_coded` chooses and scores in the same, all of them. None where one of the two has no word.
    """
    first, second = (words, words) if as_coded else (words[choosing[words.input]], words[~choosing[words.input]])
    if not (len(first) and len(second)):
        return None
    sums = first.unpacked(heads).sum(0, dtype=np.int64)
    head, direction = np.unravel_index(sums.argmax(), sums.shape)
    offset = best_offset(first, as_coded)
    right = second.unpacked(heads)[:, head, direction].astype(np.int64)
    baseline = hits(second, offset, as_coded).astype(np.int64)
    three = np.stack([right, baseline, right - baseline], axis=1)
    return Chosen(int(head), int(direction), offset, summed(three, second.input, draws))
