"""Intervals of values in bootstrap resamples, and scores with these values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import norm, t

CONFIDENCE = 0.95
# Below this number of units, which may be estimated from the resamples, there is one.
ONE_UNIT = 1.5
# Fewer documents give no interval: of three, all lie on the wrong side of the true value in one of eight samples.
LEAST_DOCUMENTS = 5
# What is said of a corpus of so few documents that a result of it has no intervals.
TOO_FEW = "too few for intervals"


@dataclass(frozen=True)
class Score:
    """A score of each space (layer, baseline): its value, its values in the resamples, and the number of cases.

    * `units`: how many examples (documents) were resampled; infinite where intervals are the plain percentiles.
    * `of_answers`: whether it is a mean of zeros and ones, whose interval has a bound at 0 and at 1.
    * `of_gains`: whether it is a difference of two such means, see `of_differences`.
    * `of_pairs`: whether it is a mean over pairs of units, whose interval is that of `of_standard_error`.
    """

    mean: Float[np.ndarray, " space"]
    resampled: Float[np.ndarray, "resample space"]
    count: int
    units: float = np.inf
    of_answers: bool = False
    of_gains: bool = False
    of_pairs: bool = False

    @property
    def interval(self) -> Float[np.ndarray, "space 2"]:
        """The 95% bootstrap interval, as a rule by percentiles; NaN for one unit, which says nothing of others."""
        if self.units < ONE_UNIT:
            return np.full((*self.mean.shape, 2), np.nan)
        if self.of_pairs:
            return of_standard_error(self.mean, self.resampled, self.units)
        bounds = interval(self.resampled, self.units)
        if self.of_gains:
            return of_differences(bounds, self.units)
        return of_shares(bounds, self.mean, self.units) if self.of_answers else bounds

    def __getitem__(self, spaces: slice) -> "Score":
        """The score in some of the spaces."""
        return replace(self, mean=self.mean[spaces], resampled=self.resampled[:, spaces])

    def __sub__(self, other: "Score") -> "Score":
        """The gain in each space, on the same sentences and resamples."""
        resampled = self.resampled - other.resampled
        of_gains = self.of_answers and other.of_answers
        return replace(self, mean=self.mean - other.mean, resampled=resampled, of_answers=False, of_gains=of_gains)


def mean_of(scores: Sequence[Score]) -> Score:
    """The mean of several scores on the same sentences and resamples, such as those of seeds."""
    resampled = np.mean([score.resampled for score in scores], axis=0)
    return replace(scores[0], mean=np.mean([score.mean for score in scores], axis=0), resampled=resampled)


def interval(
    resampled: Float[np.ndarray, "resample *dims"], units: float | Float[np.ndarray, "*dims"] = np.inf
) -> Float[np.ndarray, "*dims 2"]:
    """The 95% percentile interval of the values of all resamples, lower and upper bound; NaN is no value.

    * `units`: how many examples (documents) were resampled. For few of them the percentiles lie further out, as t
      quantiles do from those of a normal distribution (the expanded percentile interval of Hesterberg 2015, 4.2).

    >>> interval(np.linspace(0, 1, 101)).round(3), interval(np.linspace(0, 1, 101), units=15).round(3)
    (array([0.025, 0.975]), array([0.013, 0.987]))
    """
    tails = _tails(np.asarray(units, dtype=float))
    return np.moveaxis(_quantiles(resampled, [tails, 1 - tails]), 0, -1)


def of_standard_error(
    mean: Float[np.ndarray, "*dims"], resampled: Float[np.ndarray, "resample *dims"], units: float
) -> Float[np.ndarray, "*dims 2"]:
    """The 95% interval of a value by the standard error of its resamples and a t distribution.

    A mean over pairs is skewed, and its resamples once more: their percentiles lie too high. NaN is no value.

    >>> of_standard_error(np.array([0.5]), np.array([[0.4], [0.6]]), units=15).round(3).tolist()
    [[0.278, 0.722]]
    """
    few = np.clip(units, 2, 1e9)
    deviations = np.ma.masked_invalid(resampled).std(0).filled(np.nan)
    half = t.isf((1 - CONFIDENCE) / 2, few - 1) * np.sqrt(few / (few - 1)) * deviations
    return np.stack([mean - half, mean + half], axis=-1)


def of_shares(
    bounds: Float[np.ndarray, "*dims 2"],
    mean: Float[np.ndarray, "*dims"],
    units: float | Float[np.ndarray, "*few_dims"],
) -> Float[np.ndarray, "*dims 2"]:
    """The interval of a mean of zeros and ones: 0 of n is not 0 to 0, but up to what n allows.

    The bound is the exact one of n independent cases (Clopper and Pearson 1934), with the units as cases.

    >>> of_shares(np.array([[0.0, 0.0], [0.2, 0.4]]), np.array([0.0, 0.3]), 20).round(3).tolist()
    [[0.0, 0.168], [0.2, 0.4]]
    """
    lower, upper = np.moveaxis(bounds, -1, 0)
    least = np.broadcast_to(_least(units), lower.shape)
    lower = np.where(mean == 1, np.minimum(lower, least), lower)
    upper = np.where(mean == 0, np.maximum(upper, 1 - least), upper)
    return np.stack([lower, upper], axis=-1)


def of_differences(
    bounds: Float[np.ndarray, "*dims 2"], units: float | Float[np.ndarray, "*few_dims"] | Int[np.ndarray, "*few_dims"]
) -> Float[np.ndarray, "*dims 2"]:
    """The interval of a mean difference of answers; a bound of 0, where none is won or lost, becomes what n allows.

    >>> of_differences(np.array([[0.0, 0.0], [0.0, 0.4], [-0.3, 0.1]]), 20).round(3).tolist()
    [[-0.168, 0.168], [-0.168, 0.4], [-0.3, 0.1]]
    """
    most = np.broadcast_to(1 - _least(units), bounds.shape[:-1])
    return np.where(bounds == 0, np.stack([-most, most], axis=-1), bounds)


def effective_units(resampled_count: Float[np.ndarray, "resample *dims"]) -> Float[np.ndarray, "*dims"]:
    """The number of equal examples whose Poisson draws would vary as much as these counts of cases do.

    >>> bool(abs(effective_units(np.random.default_rng(0).poisson(20, 4000)) - 20) < 1)
    True
    """
    mean, variance = resampled_count.mean(0), resampled_count.var(0)
    return np.divide(mean**2, variance, out=np.full(np.shape(mean), np.inf), where=variance > 0)


def equal_units(units: Sequence[int]) -> float:
    """How many documents of one size say as much as these do (Kish 1965), given the document of each example.

    >>> equal_units([4, 5, 6]), round(equal_units([4, 4, 5]), 3)
    (3.0, 1.8)
    """
    sizes = np.unique(units, return_counts=True)[1]
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _least(units: float | np.ndarray) -> np.ndarray:
    """The smallest share that is possible after n successes in n cases; 0 without cases."""
    return ((1 - CONFIDENCE) / 2) ** (1 / np.maximum(units, 1e-9))


def _tails(units: Float[np.ndarray, "*dims"]) -> Float[np.ndarray, "*dims"]:
    """The share of resamples below the interval."""
    tail, few = (1 - CONFIDENCE) / 2, np.clip(units, 2, 1e9)
    return norm.cdf(np.sqrt(few / (few - 1)) * t.ppf(tail, few - 1))


def _quantiles(means: np.ndarray, levels: list[np.ndarray]) -> np.ndarray:
    """Quantiles over resamples, without those that drew no example that has the statistic.

    As `numpy.nanquantile`, which takes seconds where this takes a tenth: NaN is sorted to the end.
    """
    ordered = np.sort(np.ascontiguousarray(np.moveaxis(means, 0, -1)), axis=-1)
    last = np.maximum((~np.isnan(ordered)).sum(-1, keepdims=True) - 1, 0)
    quantiles = []
    for level in levels:
        position = np.broadcast_to(level, last.shape[:-1])[..., None] * last
        below = np.floor(position).astype(int)
        low, high = (np.take_along_axis(ordered, np.minimum(at, last), -1) for at in (below, below + 1))
        quantiles.append((low + (high - low) * (position - below))[..., 0])
    return np.stack(quantiles)
