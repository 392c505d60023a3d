"""What a test would have found: the sentence that stands beside a change that was not seen."""

from math import isnan

import xarray as xr

from headscope.report.wording import number
from headscope.statistics.interval_tests import standard_error
from headscope.statistics.power import POWER, smallest_change, smallest_fall


def least_found(changes: xr.DataArray, metric: str, examples: int, tests: int = 1) -> str:
    """The smallest fall that a test of so many examples finds, as a sentence; empty without intervals.

    Of several heads it is that of the head with the median noise.

    * `changes`: of a score, with their intervals; `metric`: its name in words; `examples`: those behind it.
    * `tests`: number of heads that the test is corrected for.

    >>> least_found(xr.DataArray(-0.01, {"lower": -0.04, "upper": 0.02}), "accuracy", 408, tests=72)
    'With 408 examples, accuracy that is worse by 6.4 points is found in 80% of cases (corrected for 72 heads); less \
may go unseen.'
    """
    if "lower" not in changes.coords or bool((error := standard_error(changes)).isnull().all()):
        return ""
    if metric == "accuracy":
        # the variance of a difference of accuracies is its discordance, less the squared difference, over n
        fall = smallest_fall(examples, min(1.0, float((examples * error**2 + changes**2).median())), tests)
        words = f"{100 * fall:.1f} points"
    else:
        fall = smallest_change(float(error.median()), tests)
        words = number(fall)
    among = f" (corrected for {tests} heads)" if tests > 1 else ""
    if isnan(fall):
        return f"{examples:,} examples are too few to find any fall of {metric}{among}."
    found = f"{metric} that is worse by {words} is found in {POWER:.0%} of cases{among}"
    return f"With {examples:,} examples, {found}; less may go unseen."
