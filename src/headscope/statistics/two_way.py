"""Two-way analysis of variance of runs with two random factors, one run for a pair of levels; no interaction.

Where pairs are missing, the sum of squares of a factor is what it explains beyond the other (type II). With all pairs
it is the textbook's.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import chi2, f

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
