"""Several runs of a training: the expected best, what stopping bad ones loses, and variance by factors.

The analysis of variance has two random factors, one run for a pair of levels, and no interaction. Where pairs are
missing, the sum of squares of a factor is what it explains beyond the other (type II). With all pairs it is the
textbook's.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import chi2, f, t

RESAMPLES = 1000


def expected_best(scores: Float[np.ndarray, "*draws run"]) -> Float[np.ndarray, "*draws trials"]:
    """The expected best score of 1 to n runs, drawn from n runs with replacement.

    Dodge et al. 2019 (Show Your Work, equation 1; used for seeds in Dodge et al. 2020): a score is the best of t draws
    with the probability that all are at most as high minus that all are lower.

    >>> expected_best(np.array([0.0, 1.0]))
    array([0.5 , 0.75])
    """
    ordered = np.sort(scores, axis=-1)
    n = ordered.shape[-1]
    trials, rank = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)
    chances = (rank / n) ** trials - ((rank - 1) / n) ** trials  # [trials, run]
    return ordered @ chances.T


def expected_best_interval(scores: Float[np.ndarray, " run"]) -> Float[np.ndarray, "trials bound"]:
    """The 95% interval of `expected_best`, by the bootstrap over runs."""
    return np.quantile(expected_best(scores[_drawn(len(scores))]), [0.025, 0.975], axis=0).T


def lost_by_stopping(
    early: Float[np.ndarray, "*draws run"], last: Float[np.ndarray, "*draws run"], share: float
) -> Float[np.ndarray, "*draws"]:
    """The best last score of all runs minus that of the runs that were not stopped.

    Stopped is a share of the runs, rounded down, with the lowest early scores; of equal ones the later.

    >>> float(lost_by_stopping(np.array([0.1, 0.2, 0.3]), np.array([0.9, 0.5, 0.6]), 0.4))
    0.3
    """
    stopped = stopped_number(early.shape[-1], share)
    kept = np.argsort(-early, axis=-1, kind="stable")[..., : early.shape[-1] - stopped]
    return np.round(last.max(-1) - np.take_along_axis(last, kept, -1).max(-1), 12)


def lost_interval(
    early: Float[np.ndarray, " run"], last: Float[np.ndarray, " run"], share: float
) -> Float[np.ndarray, " bound"]:
    """The 95% interval of `lost_by_stopping`, by the bootstrap over runs."""
    drawn = _drawn(len(last))
    return np.quantile(lost_by_stopping(early[drawn], last[drawn], share), [0.025, 0.975])


def stopped_number(runs: int, share: float) -> int:
    """How many of the runs are stopped; at least one continues.

    >>> stopped_number(6, 0.5), stopped_number(3, 0.25), stopped_number(2, 1.0)
    (3, 0, 1)
    """
    return min(int(runs * share + 1e-9), runs - 1)


LEAST_SEEDS = 3


def over_seeds(values: Float[np.ndarray, "seed *dims"], least: int = LEAST_SEEDS) -> Float[np.ndarray, "*dims 2"]:
    """The 95% interval of a mean over seeds; NaN with fewer than `least`.

    >>> over_seeds(np.array([1.0, 2.0, 3.0])).round(2).tolist()
    [-0.48, 4.48]
    """
    seeds, mean = len(values), values.mean(0)
    if seeds < least:
        return np.full((*mean.shape, 2), np.nan)
    half = t.ppf(0.975, seeds - 1) * values.std(0, ddof=1) / np.sqrt(seeds)
    return np.stack([mean - half, mean + half], axis=-1)


def _drawn(runs: int) -> np.ndarray:
    """The numbers of the runs of each resample."""
    return np.random.default_rng(0).integers(runs, size=(RESAMPLES, runs))


DRAWS = 20_000
LEVELS = (0.025, 0.975)
# A sum of squares of scores below this is rounding.
NOTHING = 1e-20

Column = Float[np.ndarray, "run column"]


@dataclass(frozen=True)
class Component:
    """A source of variance.

    * `squares`: its sum of squares, with `free` degrees of freedom.
    * `deviation`: the standard deviation of its effects, with its 95% interval.
    * `p`: of the F test against the rest; NaN of the rest itself.
    """

    squares: float
    free: int
    deviation: float
    lower: float
    upper: float
    p: float = float("nan")


def two_way(
    values: Float[np.ndarray, " run"], first: Int[np.ndarray, " run"], second: Int[np.ndarray, " run"]
) -> tuple[Component, Component, Component] | None:
    """The components of the first factor, the second, and the rest; None where runs are too few to have a rest.

    * `values`: of each run; `first`, `second`: its level of each factor.

    The interval of a factor is a generalized one (Weerahandi 1995): its mean square and that of the rest are drawn from
    their chi-square distributions; that of the rest is exact for normal numbers.

    >>> first, second = np.divmod(np.arange(9), 3)
    >>> found = two_way(2.0 * first + np.array([0, 0, 0, 0, 1, 0, 0, 0, 1.0]), first, second)
    >>> [round(component.deviation, 2) for component in found]
    [2.15, 0.0, 0.53]
    """
    first_levels, second_levels = _levels(first), _levels(second)
    constant = np.ones((len(values), 1))
    rest = _residual(np.hstack([first_levels, second_levels]), values)
    free = len(values) - int(np.linalg.matrix_rank(np.hstack([constant, first_levels, second_levels])))
    if free < 1:
        return None
    factors = (
        _factor(values, a, b, rest, free) for a, b in ((first_levels, second_levels), (second_levels, first_levels))
    )
    lower, upper = np.sqrt(rest / chi2.ppf(LEVELS[::-1], free))
    return (*factors, Component(rest, free, float(np.sqrt(rest / free)), float(lower), float(upper)))  # type: ignore[return-value]


def _factor(values: np.ndarray, levels: Column, other: Column, rest: float, free: int) -> Component:
    squares = max(_residual(other, values) - rest, 0.0)
    beyond = levels - other @ np.linalg.lstsq(other, levels, rcond=None)[0]
    free_own = int(np.linalg.matrix_rank(beyond))
    if free_own < 1:
        return Component(squares, 0, *[float("nan")] * 3)
    # The mean square has this many times the variance of the effects, beyond that of the rest.
    times = float((beyond**2).sum()) / free_own
    rng = np.random.default_rng(0)
    drawn = squares / rng.chisquare(free_own, DRAWS) - rest / rng.chisquare(free, DRAWS)
    lower, upper = np.sqrt(np.quantile(drawn.clip(0) / times, LEVELS))
    variance = max(squares / free_own - rest / free, 0.0) / times
    ratio = np.divide(squares / free_own, rest / free) if rest > 0 else (np.inf if squares > 0 else 0.0)
    return Component(
        squares, free_own, float(np.sqrt(variance)), float(lower), float(upper), float(f.sf(ratio, free_own, free))
    )


def _levels(labels: Int[np.ndarray, " run"]) -> Column:
    """A column of ones and zeros for each level."""
    return (labels[:, None] == np.unique(labels)).astype(float)


def _residual(columns: Column, values: np.ndarray) -> float:
    """The sum of squares that a linear model leaves."""
    fitted = columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
    squares = float(((values - fitted) ** 2).sum())
    return squares if squares > NOTHING else 0.0
