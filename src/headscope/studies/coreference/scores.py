"""From answers to scores: accuracies with intervals, baselines on the same cases, tests, and heads chosen apart."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import better
from headscope.statistics.split_half import summed
from headscope.studies.coreference.baselines import NAMES, REFERENCES
from headscope.studies.coreference.predictions import Answers

Draws = UInt8[np.ndarray, "resample unit"]


@dataclass(frozen=True)
class Score:
    """What the heads of a model know of one kind of mentions.

    * `accuracy`: a tally of the cases that each head gets right, heads of all layers in a row.
    * `baselines`: a tally of those that each of `baselines.NAMES` gets right.
    * `reference`: the number of the better one of `REFERENCES`; `p`: of each head being no better than that.
    """

    accuracy: Tally
    baselines: Tally
    reference: int
    p: Float[np.ndarray, " head"]


@dataclass(frozen=True)
class Chosen:
    """The best head on one half of the units (documents), scored on the other.

    * `head`: in the row of all heads; `reference`: the better one of `REFERENCES` on the first half.
    * `held_out`: a tally of rows: the head, each baseline, and how many more the head gets right than the reference.
    """

    head: int
    reference: int
    held_out: Tally


def score(cases: Answers, heads: int, draws: Draws) -> Score:
    """The score of each head on these cases; `draws` says how often each resample has each unit."""
    right, reference = cases.unpacked(heads), best_reference(cases)
    base = cases.guesses[:, reference] > 0
    both, alone = right[base].sum(0, dtype=np.int64), right[~base].sum(0, dtype=np.int64)
    return Score(
        summed(right, cases.unit, draws),
        summed(cases.guesses, cases.unit, draws),
        reference,
        better(alone, base.sum() - both),
    )


def best_reference(cases: Answers) -> int:
    """The number of the reference that is right most often; of equals the first."""
    return max((NAMES.index(name) for name in REFERENCES), key=lambda place: (cases.guesses[:, place].sum(), -place))


def chosen(cases: Answers, heads: int, draws: Draws, choosing: Bool[np.ndarray, " unit"]) -> Chosen | None:
    """The head that is best in the units of `choosing`, scored in the others; None where one of the two has no case."""
    first, second = cases[choosing[cases.unit]], cases[~choosing[cases.unit]]
    if not (len(first) and len(second)):
        return None
    head = int(first.unpacked(heads).sum(0, dtype=np.int64).argmax())
    reference = best_reference(first)
    right = second.unpacked(heads)[:, head].astype(float)
    columns = [right, *second.guesses.T, right - second.guesses[:, reference]]
    return Chosen(head, reference, summed(np.stack(columns, axis=1), second.unit, draws))
