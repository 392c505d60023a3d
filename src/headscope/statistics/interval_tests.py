"""Tests of heads against a limit, no change or a tolerance, from bootstrap intervals, corrected for their number."""

import numpy as np
import xarray as xr
from scipy.stats import norm, skellam

from headscope.statistics.significance import RATE, benjamini_hochberg

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
    """The probability of so many more answers won than lost where `tolerance` of them is lost on balance.

    The variance of a difference of accuracies is the share of changed answers minus the squared difference, over n.
    """
    changed = n * (n * error**2 + gains**2)
    won = np.maximum((changed + n * gains) / 2, (changed - n * tolerance) / 2)
    won = np.maximum(won, NEVER)
    return np.where(np.isnan(gains), np.nan, skellam.sf(np.round(n * gains) - 1, won, won + n * tolerance))
