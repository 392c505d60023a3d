"""Significance tests of heads, from counts or bootstrap intervals: correction, and the smallest change they find.

A head that passes them is special.
"""

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int
from scipy.stats import binom, false_discovery_control, norm, skellam

# Metrics of which less is better.
LOWER_IS_BETTER = frozenset({"cross_entropy", "squared_error", "loss", "perplexity", "bits_per_character"})
# A head is called special only where it beats its baseline by so much, in this many cases, at this rate of errors.
GAIN, LEAST_CASES, RATE = 0.1, 50, 0.05
# A head whose attention has a lower cosine similarity to that of the first model has changed.
LIKE = 0.9
POWER, STEPS = 0.8, 30


def better(only_one: Int[np.ndarray, "*dims"], only_other: Int[np.ndarray, "*dims"]) -> Float[np.ndarray, "*dims"]:
    """The p-value, one-sided, of one classifier being better than another: McNemar's test in its exact form.

    `only_one` is for how many cases one alone is right, `only_other` for how many the other alone; if they were
    equally good, each of these would be a toss of a coin. Cases count as independent of each other.

    >>> better(np.array([5, 3]), np.array([0, 3])).tolist()
    [0.03125, 0.65625]
    """
    return binom.sf(only_one - 1, only_one + only_other, 0.5)


def benjamini_hochberg(p: Float[np.ndarray, "*dims"]) -> Float[np.ndarray, "*dims"]:
    """The false discovery rate at which each of these p-values would be called significant; NaN is no test.

    Benjamini and Hochberg 1995: of the tests with a q-value below 0.05, about one in twenty is a false discovery.

    >>> benjamini_hochberg(np.array([[0.01, 0.04], [np.nan, 0.03]])).round(3).tolist()
    [[0.03, 0.04], [nan, 0.04]]
    """
    q, tested = np.full(p.shape, np.nan), ~np.isnan(p)
    q[tested] = false_discovery_control(p[tested]) if tested.any() else 0
    return q


def mcnemar(
    right: Bool[np.ndarray, "*variant example"], before: Bool[np.ndarray, " example"]
) -> Float[np.ndarray, "*variant"]:
    """The p-value, two-sided, of variants being right as often as before: McNemar's test in its exact form.

    Of the examples for which one alone is right, each is a toss of a coin if both are equally good.

    >>> before = np.array([True] * 6 + [False] * 4)
    >>> mcnemar(np.array([[False] * 6 + [False] * 4, [True] * 10, before]), before).tolist()
    [0.03125, 0.125, 1.0]
    """
    gained, lost = (right & ~before).sum(-1), (~right & before).sum(-1)
    return np.minimum(1.0, 2 * better(np.maximum(gained, lost), np.minimum(gained, lost)))


def smallest_fall(n: int, discordance: float, tests: int = 1) -> float:
    """The smallest true fall of accuracy that McNemar's test finds with a power of 80%, as a share; NaN if none.

    A fall among many heads is found at the level of the first of `tests`, 0.05 / `tests` (Benjamini and Hochberg 1995
    where no other head matters).

    * `n`: number of paired examples.
    * `discordance`: share of examples that are right before alone or after alone; at least the fall itself.

    >>> round(smallest_fall(408, 0.08), 3), round(smallest_fall(408, 0.08, tests=72), 3)
    (0.041, 0.058)
    """
    low, high = 0.0, 1.0
    if power_of_mcnemar(high, n, discordance, RATE / tests) < POWER:
        return float("nan")
    for _ in range(STEPS):
        middle = (low + high) / 2
        powered = power_of_mcnemar(middle, n, discordance, RATE / tests) >= POWER
        low, high = (low, middle) if powered else (middle, high)
    return high


def power_of_mcnemar(fall: float, n: int, discordance: float, level: float) -> float:
    """The probability that McNemar's exact test, two-sided, finds a fall of accuracy.

    The number of discordant examples is binomial, and so is the number of them that are lost.

    >>> round(power_of_mcnemar(0.05, 408, 0.05, 0.05), 3)  # all changes are losses: six or more of 408
    1.0
    """
    discordance = max(discordance, fall)
    if not discordance:
        return 0.0
    changed = np.arange(n + 1)
    least = binom.isf(level / 2, changed, 0.5) + 1  # losses at which the test of this many changes is significant
    lost = (discordance + fall) / 2 / discordance
    return float((binom.pmf(changed, n, discordance) * binom.sf(least - 1, changed, lost)).sum())


def smallest_change(error: float, tests: int = 1) -> float:
    """The smallest true change that is found with a power of 80% where estimates are normal with this standard error.

    >>> round(smallest_change(0.01), 4)  # 1.96 + 0.84 standard errors
    0.028
    """
    return float((norm.isf(RATE / tests / 2) + norm.ppf(POWER)) * error)


def enough(cases: float) -> bool:
    """True if there are at least `LEAST_CASES` cases."""
    return cases >= LEAST_CASES


def is_special(gain: float, q: float, cases: float) -> bool:
    """True if a head beats its baseline by 10 points or more, not by chance, in enough cases.

    >>> is_special(0.2, 0.01, 400), is_special(0.2, 0.01, 12)
    (True, False)
    """
    return gain >= GAIN and q < RATE and enough(cases)


WIDTH = 2 * float(norm.ppf(0.975))
# The rate of a Poisson variable that is hardly ever 1.
NEVER = 1e-12


def q_above(array: xr.DataArray, limit: float | xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate at which each mean is called larger than a limit; None without intervals.

    A bootstrap interval is taken for that of a normal distribution; all values of the array are corrected together
    (Benjamini and Hochberg 1995).

    >>> bounds = {"lower": ("head", [0.5, 0.4, 0.3]), "upper": ("head", [0.7, 0.6, 0.3])}
    >>> q_above(xr.DataArray([0.6, 0.5, 0.3], bounds, ["head"]), 0.5).values.round(3).tolist()
    [0.075, 0.75, 1.0]
    """
    score = _score(array, limit)
    return None if score is None else score.copy(data=benjamini_hochberg(norm.sf(score.values)))


def surely_above(array: xr.DataArray, limit: float | xr.DataArray) -> xr.DataArray:
    """Mask of means shown to be larger than a limit, corrected as by `q_above`; empty without intervals.

    >>> bounds = {"lower": ("head", [0.58, 0.4]), "upper": ("head", [0.62, 0.7])}
    >>> surely_above(xr.DataArray([0.6, 0.55], bounds, ["head"]), 0.5).values.tolist()
    [True, False]
    """
    q = q_above(array, limit)
    return xr.zeros_like(array, bool) if q is None else q < RATE


def changed_clearly(similarity: xr.DataArray) -> xr.DataArray:
    """The heads that changed clearly: their cosine similarity is below 0.9, beyond chance where there are intervals.

    * `similarity`: of one model, with its intervals; all heads are corrected together (Benjamini and Hochberg 1995).

    >>> bounds = {"lower": ("head", [0.5, 0.8]), "upper": ("head", [0.7, 0.95])}
    >>> changed_clearly(xr.DataArray([0.6, 0.89], bounds, ["head"])).values.tolist()
    [True, False]
    """
    score = _score(similarity, LIKE)
    return similarity < LIKE if score is None else score.copy(data=benjamini_hochberg(norm.cdf(score.values)) < RATE)


def q_changed(array: xr.DataArray) -> xr.DataArray | None:
    """The false discovery rate at which each difference is called different from 0, two-sided; None without intervals.

    >>> bounds = {"lower": ("head", [-0.7, -0.1]), "upper": ("head", [-0.5, 0.1])}
    >>> q_changed(xr.DataArray([-0.6, 0.0], bounds, ["head"])).values.round(3).tolist()
    [0.0, 1.0]
    """
    score = _score(array, 0.0)
    return None if score is None else score.copy(data=benjamini_hochberg(2 * norm.sf(abs(score.values))))


def q_no_worse(gains: xr.DataArray, tolerance: float, n: int, *, of_answers: bool) -> xr.DataArray | None:
    """The false discovery rate at which each gain is called no loss of the tolerance or more; None without intervals.

    * `n`: number of paired examples; `of_answers`: whether they are of an accuracy, of which few changed answers say
      little: the answers lost and won are then Poisson variables. Other gains are normal.

    >>> bounds = {"lower": ("head", [0.0, -0.05]), "upper": ("head", [0.0, 0.03])}
    >>> gains = xr.DataArray([0.0, -0.01], bounds, ["head"])
    >>> q_no_worse(gains, 0.02, 400, of_answers=True).values.round(3).tolist()
    [0.001, 0.339]
    """
    if not _has_intervals(gains):
        return None
    error = standard_error(gains).transpose(*gains.dims).values
    test = _p_of_answers if of_answers else _p_of_normal
    return gains.copy(data=benjamini_hochberg(test(gains.values, error, tolerance, n)))


def surely(q: xr.DataArray | None, what: str, among: xr.DataArray | bool = True) -> str:
    """The number of tests beyond chance among those in `among`, as a clause; empty without intervals.

    >>> surely(xr.DataArray([0.01, 0.2]), "heads")
    '1 beyond chance (q < 0.05, Benjamini-Hochberg over 2 heads)'
    """
    if q is None:
        return ""
    return f"{int(((q < RATE) & among).sum())} beyond chance ({corrected(q, what)})"


def corrected(q: xr.DataArray, what: str) -> str:
    """The threshold and the correction of a false discovery rate, in words."""
    return f"q < {RATE}, Benjamini-Hochberg over {int(q.notnull().sum()):,} {what}"


def standard_error(array: xr.DataArray) -> xr.DataArray:
    """The standard error of each value, its interval taken for that of a normal distribution."""
    return (array["upper"] - array["lower"]) / WIDTH


def _has_intervals(array: xr.DataArray) -> bool:
    return "lower" in array.coords and not bool(array["lower"].isnull().all())


def _score(array: xr.DataArray, limit: float | xr.DataArray) -> xr.DataArray | None:
    """The distance from the limit in standard errors; 0 or infinite where the standard error is 0."""
    if not _has_intervals(array):
        return None
    error = standard_error(array).transpose(*array.dims).values
    apart = (array - limit).transpose(*array.dims)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(apart.values == 0, 0.0, apart.values / error)
    return apart.copy(data=np.where(np.isnan(apart.values), np.nan, values))


def _p_of_normal(gains: np.ndarray, error: np.ndarray, tolerance: float, n: int) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return norm.sf((gains + tolerance) / error)


def _p_of_answers(gains: np.ndarray, error: np.ndarray, tolerance: float, n: int) -> np.ndarray:
    """The probability of this many more answers won than lost where `tolerance` of them is lost on balance.

    The variance of a difference of accuracies is the share of changed answers minus the squared difference, over n.
    """
    changed = n * (n * error**2 + gains**2)
    won = np.maximum((changed + n * gains) / 2, (changed - n * tolerance) / 2)
    won = np.maximum(won, NEVER)
    return np.where(np.isnan(gains), np.nan, skellam.sf(np.round(n * gains) - 1, won, won + n * tolerance))
