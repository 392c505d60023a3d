"""Tests of heads against a limit or no change, from bootstrap intervals, corrected for the number of heads."""

import numpy as np
import xarray as xr
from scipy.stats import norm

from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.thresholds import RATE

WIDTH = 2 * float(norm.ppf(0.975))


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


def _score(array: xr.DataArray, limit: float | xr.DataArray) -> xr.DataArray | None:
    """The distance from the limit in standard errors; 0 or infinite where the standard error is 0."""
    if "lower" not in array.coords or bool(array["lower"].isnull().all()):
        return None
    error = standard_error(array).transpose(*array.dims).values
    apart = (array - limit).transpose(*array.dims)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(apart.values == 0, 0.0, apart.values / error)
    return apart.copy(data=np.where(np.isnan(apart.values), np.nan, values))
