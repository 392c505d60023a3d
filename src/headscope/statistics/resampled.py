"""Scores with their values in bootstrap resamples."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headscope.statistics.bootstrap import interval


@dataclass(frozen=True)
class Score:
    """A score of each space (layer, baseline): its value, its values in the resamples, and the number of cases."""

    mean: Float[np.ndarray, " space"]
    resampled: Float[np.ndarray, "resample space"]
    count: int

    @property
    def interval(self) -> Float[np.ndarray, "space 2"]:
        """The 95% percentile bootstrap interval."""
        return interval(self.resampled)

    def __getitem__(self, spaces: slice) -> "Score":
        """The score in some of the spaces."""
        return Score(self.mean[spaces], self.resampled[:, spaces], self.count)

    def __sub__(self, other: "Score") -> "Score":
        """The gain in each space, on the same sentences and resamples."""
        return Score(self.mean - other.mean, self.resampled - other.resampled, self.count)
