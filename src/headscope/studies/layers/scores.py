"""Scores of tasks with bootstrap intervals over sentences, or over documents where the corpora have them."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units


class UnitDraws:
    """Counts of sentences or documents in the resamples; `unit` has the number of that of each text."""

    def __init__(self, unit: Sequence[int], seed: int, resamples: int):
        self.unit = np.array(unit)
        self.seed, self.resamples = seed, resamples

    @cached_property
    def _columns(self) -> dict[int, np.ndarray]:
        return {}

    def of(self, units: Int[np.ndarray, " unit"]) -> Float[np.ndarray, "resample unit"]:
        """The counts of some units."""
        for number in set(units.tolist()) - self._columns.keys():
            self._columns[number] = poisson_draws([number], self.seed, self.resamples)[:, 0]
        return np.stack([self._columns[number] for number in units.tolist()], axis=1)


def score(
    loss: Float[np.ndarray, "case space"],
    base: Float[np.ndarray, " case"],
    texts: Int[np.ndarray, " case"],
    draws: UnitDraws,
    *,
    of_answers: bool = False,
) -> Score:
    """One less the share of the loss in that of `base`: the share right of classes, R^2 of values.

    * `of_answers`: whether each case is right or wrong.

    >>> draws = UnitDraws([0, 1], 0, 5)
    >>> score(np.array([[0.0], [1.0], [1.0], [0.0]]), np.ones(4), np.array([0, 0, 1, 1]), draws).mean
    array([0.5])
    """
    present, row = np.unique(draws.unit[texts], return_inverse=True)
    sums, bases = np.zeros((len(present), loss.shape[1])), np.bincount(row, base, len(present))
    np.add.at(sums, row, loss)
    counts = draws.of(present)
    resampled_base = counts @ bases
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = 1 - (counts @ sums) / resampled_base[:, None]
    units = float(effective_units(resampled_base))
    return Score(1 - sums.sum(0) / bases.sum(), resampled, len(loss), units, of_answers)


def p_value(gain: Score) -> Float[np.ndarray, " space"]:
    """The p-value, one-sided, of no gain: the share of resamples without one, the sample itself counted as one."""
    without = (gain.resampled <= 0).sum(0)
    return (1 + without) / (1 + len(gain.resampled))
