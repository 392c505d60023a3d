"""Scores with their values in bootstrap resamples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headscope.statistics.bootstrap import interval, of_shares

# Below this number of units, which may be estimated from the resamples, there is one.
ONE_UNIT = 1.5


@dataclass(frozen=True)
class Score:
    """A score of each space (layer, baseline): its value, its values in the resamples, and the number of cases.

    * `units`: how many examples (documents) were resampled; infinite where intervals are the plain percentiles.
    * `of_answers`: whether it is a mean of zeros and ones, whose interval has a bound at 0 and at 1.
    """

    mean: Float[np.ndarray, " space"]
    resampled: Float[np.ndarray, "resample space"]
    count: int
    units: float = np.inf
    of_answers: bool = False

    @property
    def interval(self) -> Float[np.ndarray, "space 2"]:
        """The 95% percentile bootstrap interval; NaN for one unit, which says nothing of others."""
        bounds = np.where(self.units < ONE_UNIT, np.nan, interval(self.resampled, self.units))
        return of_shares(bounds, self.mean, self.units) if self.of_answers else bounds

    def __getitem__(self, spaces: slice) -> "Score":
        """The score in some of the spaces."""
        return replace(self, mean=self.mean[spaces], resampled=self.resampled[:, spaces])

    def __sub__(self, other: "Score") -> "Score":
        """The gain in each space, on the same sentences and resamples."""
        resampled = self.resampled - other.resampled
        return replace(self, mean=self.mean - other.mean, resampled=resampled, of_answers=False)


def mean_of(scores: Sequence[Score]) -> Score:
    """The mean of several scores on the same sentences and resamples, such as those of seeds."""
    resampled = np.mean([score.resampled for score in scores], axis=0)
    return replace(scores[0], mean=np.mean([score.mean for score in scores], axis=0), resampled=resampled)
