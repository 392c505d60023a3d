"""Scores of tasks with bootstrap intervals over sentences."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.resampled import Score


class SentenceDraws:
    """Counts of sentences in the resamples; texts that are made from one sentence count with it."""

    def __init__(self, origin: Sequence[int], seed: int, resamples: int):
        self.origin = np.array(origin)
        self.seed, self.resamples = seed, resamples

    @cached_property
    def _columns(self) -> dict[int, np.ndarray]:
        return {}

    def of(self, origins: Int[np.ndarray, " sentence"]) -> Float[np.ndarray, "resample sentence"]:
        """The counts of some sentences."""
        for number in set(origins.tolist()) - self._columns.keys():
            self._columns[number] = poisson_draws([number], self.seed, self.resamples)[:, 0]
        return np.stack([self._columns[number] for number in origins.tolist()], axis=1)


def score(
    loss: Float[np.ndarray, "case space"],
    base: Float[np.ndarray, " case"],
    texts: Int[np.ndarray, " case"],
    draws: SentenceDraws,
) -> Score:
    """One less the share of the loss in that of `base`: the share right of classes, R^2 of values.

    >>> draws = SentenceDraws([0, 1], 0, 5)
    >>> score(np.array([[0.0], [1.0], [1.0], [0.0]]), np.ones(4), np.array([0, 0, 1, 1]), draws).mean
    array([0.5])
    """
    origins, place = np.unique(draws.origin[texts], return_inverse=True)
    sums, bases = np.zeros((len(origins), loss.shape[1])), np.bincount(place, base, len(origins))
    np.add.at(sums, place, loss)
    counts = draws.of(origins)
    with np.errstate(invalid="ignore", divide="ignore"):
        resampled = 1 - (counts @ sums) / (counts @ bases)[:, None]
    return Score(1 - sums.sum(0) / bases.sum(), resampled, len(loss))


def p_value(gain: Score) -> Float[np.ndarray, " space"]:
    """The p-value, one-sided, of no gain: the share of resamples without one, the sample itself counted as one."""
    without = (gain.resampled <= 0).sum(0)
    return (1 + without) / (1 + len(gain.resampled))
