"""Sums and counts that merge: means over examples, with bootstrap intervals, in memory that does not grow.

Each example is drawn a Poisson(1) number of times in each resample (the online bootstrap of Oza and
Russell 2001; Chamandy et al. 2012 for data that are streamed). The draws depend on the seed and the
example's number alone, so that a tally is the same in whatever order, batches or shards the examples came,
and two models that read the same corpus are resampled together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from scipy.stats import t

from headscope.statistics.intervals import effective_units, interval, of_shares

RESAMPLES = 1000


# Inputs that are resampled at a time.
CHUNK = 1024


@dataclass(frozen=True)
class Tally:
    """The sum of a statistic over examples and how many had it, for the corpus and for each resample.

    A statistic of an example's words or links is summed over them, and counts each of them.
    """

    total: Float[np.ndarray, "head *dims"]
    count: Int[np.ndarray, "*dims"]
    resampled_total: Float[np.ndarray, "resample head *dims"]
    resampled_count: Float[np.ndarray, "resample *dims"]

    def __add__(self, other: "Tally") -> "Tally":
        """The tally of both sets of examples.

        Raises `ValueError` for tallies of other heads or resamples.
        """
        if self.resampled_total.shape != other.resampled_total.shape:
            sizes = f"{self.resampled_total.shape} and {other.resampled_total.shape}"
            raise ValueError(f"tallies of different heads or resamples: {sizes} values")
        return Tally(
            self.total + other.total,
            self.count + other.count,
            self.resampled_total + other.resampled_total,
            self.resampled_count + other.resampled_count,
        )

    @property
    def mean(self) -> Float[np.ndarray, "head *dims"]:
        """The mean over the examples that have the statistic; NaN if none has."""
        return _divide(self.total, self.count)

    @property
    def interval(self) -> Float[np.ndarray, "head *dims 2"]:
        """The 95% percentile bootstrap interval of the mean; NaN where one example has all cases.

        One example says nothing about others: all resamples have its mean. For few examples the interval is wider by
        a t distribution, see `interval`.
        """
        return self.interval_of(_divide(self.resampled_total, self.resampled_count[:, None]))

    def interval_of(self, resampled: Float[np.ndarray, "resample *other_dims"]) -> Float[np.ndarray, "*other_dims 2"]:
        """The 95% interval of another estimate, from its value in each of the same resamples, such as a ratio.

        The last dimensions of the estimate are those of the counts.
        """
        return np.where(self._one_example[..., None], np.nan, interval(resampled, self.units))

    @property
    def share_interval(self) -> Float[np.ndarray, "head *dims 2"]:
        """The interval of a mean of zeros and ones, see `of_shares`."""
        return of_shares(self.interval, self.mean, self.units)

    @property
    def p_above_zero(self) -> Float[np.ndarray, "head *dims"]:
        """The p-value, one-sided, of a mean of 0 or less: a t test whose cases are the examples (documents).

        1 where one example has all cases, or there is none.
        """
        drawn = np.broadcast_to(self.resampled_count[:, None] > 0, self.resampled_total.shape)
        means = np.where(drawn, _divide(self.resampled_total, self.resampled_count[:, None]), 0.0)
        number = np.maximum(drawn.sum(0), 1)
        error = np.sqrt((drawn * (means - means.sum(0) / number) ** 2).sum(0) / number)
        few = np.clip(self.units, 2, 1e9)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = t.sf(self.mean / (error * np.sqrt(few / (few - 1))), few - 1)
        p = np.where(self.mean <= 0, np.maximum(p, 0.5), p)
        return np.where(self._one_example | np.isnan(p), 1.0, p)

    def less(self, other: "Tally", row: int = 0) -> "Tally":
        """The tally of differences from a row of another tally of the same cases, such as a baseline."""
        beside = other.resampled_total[:, row].reshape(-1, *[1] * self.total.ndim)
        return replace(self, total=self.total - other.total[row], resampled_total=self.resampled_total - beside)

    @property
    def units(self) -> Float[np.ndarray, "*dims"]:
        """How many equal examples (documents) would vary as these do from resample to resample (Kish 1965)."""
        return effective_units(self.resampled_count)

    @property
    def _one_example(self) -> Bool[np.ndarray, "*dims"]:
        """True where one example has all cases: a resample has none of them, or all several times."""
        times = _divide(self.resampled_count, np.broadcast_to(self.count, self.resampled_count.shape))
        return (times == np.round(times)).all(0) & (times == 0).any(0)


def tally(
    values: Float[np.ndarray, "example head *dims"],
    valid: Bool[np.ndarray, "example *dims"] | Int[np.ndarray, "example *dims"],
    draws: Float[np.ndarray, "resample example"],
) -> Tally:
    """The tally of some examples; `draws` is the count of each example in each resample.

    * `valid`: which examples have the statistic; or how many cases (words, links) of it each has, of which `values`
      is the sum. The mean is then over all cases of all examples, and whole examples are resampled.

    >>> one = tally(np.array([[0.2], [0.4]]), np.array([True, True]), np.ones((3, 2)))
    >>> (one + one).mean.round(3), int((one + one).count)
    (array([0.3]), 4)
    """
    kept = np.where(valid[:, None], values, 0.0).astype(np.float64)
    return Tally(
        kept.sum(0), valid.sum(0), np.tensordot(draws, kept, axes=1), np.tensordot(draws, valid.astype(float), axes=1)
    )


def tally_by_input(
    values: Float[np.ndarray, "case head *dims"],
    inputs: Int[np.ndarray, " case"],
    draws: Float[np.ndarray, "resample input"] | UInt8[np.ndarray, "resample input"],
    cases: Int[np.ndarray, " case"] | None = None,
) -> Tally:
    """The tally of values over cases (words, links); inputs are resampled whole: their cases depend on each other.

    * `inputs`: the number of the input of each case, in ascending order.
    * `draws`: how often each resample has each input.
    * `cases`: how many cases each row of `values` is the sum of; by default one.

    >>> tally_by_input(np.array([[1.0], [0.0], [1.0]]), np.array([0, 0, 1]), np.ones((3, 2))).mean.round(3)
    array([0.667])
    """
    present, starts, counts = np.unique(inputs, return_index=True, return_counts=True)
    dtype = np.result_type(values, np.int64)
    sums = np.add.reduceat(values, starts, dtype=dtype) if len(inputs) else values.astype(dtype)
    if cases is not None and len(inputs):
        counts = np.add.reduceat(cases, starts)
    # [input, *dims]
    valid = np.broadcast_to(counts.reshape(-1, *[1] * (values.ndim - 2)), (len(present), *values.shape[2:]))
    chunks = [slice(first, first + CHUNK) for first in range(0, max(1, len(present)), CHUNK)]
    return merge(tally(sums[chunk], valid[chunk], draws[:, present[chunk]].astype(float)) for chunk in chunks)


def poisson_draws(unit: Iterable[int], seed: int, resamples: int = RESAMPLES) -> Float[np.ndarray, "resample example"]:
    """How often each of `resamples` bootstrap resamples has each example; those of one unit are drawn together.

    * `unit`: of each example its number, or that of its document.

    >>> draws = poisson_draws([3, 4], seed=0, resamples=5)
    >>> np.array_equal(draws[:, 1:], poisson_draws([4], seed=0, resamples=5))
    True
    """
    numbers, column = np.unique(np.fromiter(unit, dtype=np.int64), return_inverse=True)
    draws = np.empty((resamples, len(numbers)))
    for at, number in enumerate(numbers.tolist()):
        draws[:, at] = np.random.Generator(np.random.Philox(key=[seed, number])).poisson(1.0, resamples)
    return draws[:, column]


def merge(tallies: Iterable[Tally]) -> Tally:
    """The tally of all examples of several tallies."""
    return reduce(Tally.__add__, tallies)


def _divide(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=np.broadcast_to(count > 0, total.shape))


def paired_means(
    values: Float[np.ndarray, " case"],
    inside: Bool[np.ndarray, " case"],
    inputs: Int[np.ndarray, " case"],
    draws: Float[np.ndarray, "resample input"] | UInt8[np.ndarray, "resample input"],
) -> Tally:
    """Means of the cases inside and outside a group, and outside minus inside, over inputs with both.

    Each input weighs the same; inputs of one group alone are left out.

    >>> values, inputs = np.array([0.25, 0.75, 0.5]), np.array([0, 0, 1])
    >>> paired_means(values, np.array([True, False, True]), inputs, np.ones((2, 2))).mean.tolist()
    [0.25, 0.75, 0.5]
    """
    number = int(inputs.max(initial=-1)) + 1
    counts, sums = (
        np.stack([np.bincount(inputs[group], weights[group], number) for group in (inside, ~inside)], axis=1)
        for weights in (np.ones(len(values)), values.astype(np.float64))
    )
    both = np.flatnonzero((counts > 0).all(1))
    means = sums[both] / counts[both]
    return tally_by_input(np.column_stack([means, means[:, 1] - means[:, 0]]), both, draws)
