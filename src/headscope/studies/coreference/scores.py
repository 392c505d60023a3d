"""Accuracies with intervals, baselines on the same cases, tests, and the best head of one half scored on the other."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import better
from headscope.statistics.split_half import BestHead, Selection, best_head
from headscope.studies.coreference.baselines import NAMES, REFERENCES
from headscope.studies.coreference.predictions import AntecedentPredictions

Draws = UInt8[np.ndarray, "resample unit"]
# Rows of the held-out scores of a best head: the head, the baselines, the head less its reference.
HEAD, BASELINES, ADVANTAGE = 0, list(range(1, 1 + len(NAMES))), 1 + len(NAMES)


@dataclass(frozen=True)
class MentionScore:
    """Scores of all heads for one kind of mentions.

    * `accuracy`: tally of the cases that each head gets right, heads of all layers in a row.
    * `baselines`: tally of the cases that each of `baselines.NAMES` gets right.
    * `reference`: number of the better one of `REFERENCES`; `p`: p-value that a head is no better than it.
    """

    accuracy: Tally
    baselines: Tally
    reference: int
    p: Float[np.ndarray, " head"]


def score(cases: AntecedentPredictions, heads: int, draws: Draws) -> MentionScore:
    """The scores of `heads` heads on these cases; `draws`: how often each resample has each unit (document)."""
    right, reference = cases.unpacked(heads), best_reference(cases)
    base = cases.guesses[:, reference] > 0
    both, alone = right[base].sum(0, dtype=np.int64), right[~base].sum(0, dtype=np.int64)
    return MentionScore(
        tally_by_input(right, cases.unit, draws),
        tally_by_input(cases.guesses, cases.unit, draws),
        reference,
        better(alone, base.sum() - both),
    )


def best_reference(cases: AntecedentPredictions) -> int:
    """The number of the reference that is right most often; of equals the first."""
    return max((NAMES.index(name) for name in REFERENCES), key=lambda place: (cases.guesses[:, place].sum(), -place))


def best(
    cases: AntecedentPredictions, heads: int, draws: Draws, selection_half: Bool[np.ndarray, " unit"]
) -> BestHead | None:
    """The head and reference that are best in the units of `selection_half`, scored in the others.

    Returns: the best head with the scores `HEAD`, `BASELINES`, `ADVANTAGE`; None where one of the halves has no case.
    """

    def select(cases: AntecedentPredictions) -> Selection:
        head = int(cases.unpacked(heads).sum(0, dtype=np.int64).argmax())
        return Selection(head, baseline=best_reference(cases))

    def evaluate(cases: AntecedentPredictions, selected: Selection) -> Tally:
        right = cases.unpacked(heads)[:, selected.head].astype(float)
        columns = [right, *cases.guesses.T, right - cases.guesses[:, selected.baseline]]
        return tally_by_input(np.stack(columns, axis=1), cases.unit, draws)

    return best_head(cases, selection_half[cases.unit], select, evaluate)
