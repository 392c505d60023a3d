"""How far one may go along a direction before the loss has risen by a given amount."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.stats import t

LEVEL = 0.975
HALVINGS = 6


def reach(rise_at: Callable[[float], float], rise: float, distances: Float[np.ndarray, " step"]) -> float:
    """The distance at which the loss has risen by `rise`; the farthest distance where it has not.

    The first of the distances beyond which it has risen is found, then halving narrows it down.

    * `rise_at`: the rise of the loss at a distance; `distances`: in ascending order, above 0.

    >>> round(reach(lambda distance: 2 * distance**2, 0.5, np.linspace(0.25, 2, 8)), 2)
    0.5
    """
    below = 0.0
    for above in distances.tolist():
        if rise_at(above) >= rise:
            break
        below = above
    else:
        return float(distances[-1])
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        below, above = (below, middle) if rise_at(middle) >= rise else (middle, above)
    return (below + above) / 2


def mean_interval(widths: Float[np.ndarray, " direction"]) -> Float[np.ndarray, " bound"]:
    """The 95% interval of the mean over directions (t distribution); NaN for a single one.

    >>> mean_interval(np.array([1.0, 1.0, 1.0])).tolist()
    [1.0, 1.0]
    """
    n = len(widths)
    if n < 2:
        return np.full(2, np.nan)
    half = float(t.ppf(LEVEL, n - 1)) * widths.std(ddof=1) / np.sqrt(n)
    return np.maximum(widths.mean() + half * np.array([-1, 1]), 0.0)
