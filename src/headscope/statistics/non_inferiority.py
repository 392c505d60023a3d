"""Tests that a loss is smaller than a tolerance: an effect that was not seen is not yet none."""

import numpy as np
import xarray as xr
from scipy.stats import norm, skellam

from headscope.statistics.interval_tests import standard_error
from headscope.statistics.significance import benjamini_hochberg

# The rate of a Poisson variable that is hardly ever 1.
NEVER = 1e-12


def q_no_worse(gains: xr.DataArray, tolerance: float, n: int, *, of_answers: bool) -> xr.DataArray | None:
    """The false discovery rate at which each gain is called no loss of the tolerance or more; None without intervals.

    * `n`: number of paired examples; `of_answers`: whether they are of an accuracy, of which few changed answers say
      little: the answers lost and won are then Poisson variables. Other gains are normal.

    >>> bounds = {"lower": ("head", [0.0, -0.05]), "upper": ("head", [0.0, 0.03])}
    >>> gains = xr.DataArray([0.0, -0.01], bounds, ["head"])
    >>> q_no_worse(gains, 0.02, 400, of_answers=True).values.round(3).tolist()
    [0.001, 0.339]
    """
    if "lower" not in gains.coords or bool(gains["lower"].isnull().all()):
        return None
    error = standard_error(gains).transpose(*gains.dims).values
    test = _p_of_answers if of_answers else _p_of_normal
    return gains.copy(data=benjamini_hochberg(test(gains.values, error, tolerance, n)))


def _p_of_normal(gains: np.ndarray, error: np.ndarray, tolerance: float, n: int) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return norm.sf((gains + tolerance) / error)


def _p_of_answers(gains: np.ndarray, error: np.ndarray, tolerance: float, n: int) -> np.ndarray:
    """The probability of so many more answers won than lost where `tolerance` of them is lost on balance.

    The variance of a difference of accuracies is the share of changed answers, less the squared difference, over n.
    """
    changed = n * (n * error**2 + gains**2)
    won = np.maximum((changed + n * gains) / 2, (changed - n * tolerance) / 2)
    won = np.maximum(won, NEVER)
    return np.where(np.isnan(gains), np.nan, skellam.sf(np.round(n * gains) - 1, won, won + n * tolerance))
