"""The smallest true fall that a test would have found: what the absence of a significant one is worth."""

import numpy as np
from scipy.stats import binom, norm

from headscope.statistics.thresholds import RATE

POWER, STEPS = 0.8, 30


def smallest_fall(n: int, discordance: float, tests: int = 1) -> float:
    """The smallest true fall of accuracy that McNemar's test finds with a power of 80%, as a share; NaN if none.

    A fall among many heads is found at the level of the first of so many tests, 0.05 / `tests` (Benjamini and Hochberg
    1995 where no other head matters).

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
        found = power_of_mcnemar(middle, n, discordance, RATE / tests) >= POWER
        low, high = (low, middle) if found else (middle, high)
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
    least = binom.isf(level / 2, changed, 0.5) + 1  # losses at which the test of so many changes is significant
    lost = (discordance + fall) / 2 / discordance
    return float((binom.pmf(changed, n, discordance) * binom.sf(least - 1, changed, lost)).sum())


def smallest_change(error: float, tests: int = 1) -> float:
    """The smallest true change that is found with a power of 80% where estimates are normal with this standard error.

    >>> round(smallest_change(0.01), 4)  # 1.96 + 0.84 standard errors
    0.028
    """
    return float((norm.isf(RATE / tests / 2) + norm.ppf(POWER)) * error)
