"""How far runs, such as seeds of a training, agree: a number for each two of them, and its mean with an interval."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from jaxtyping import Float
from scipy.stats import t

from headscope.statistics.rank_correlation import spearman


def agreements(
    values: Float[np.ndarray, "run head"],
    agree: Callable[[np.ndarray, np.ndarray], float | np.ndarray] = spearman,
) -> Float[np.ndarray, "run run"]:
    """How far each two runs agree; by default Spearman's correlation over heads.

    >>> agreements(np.array([[1.0, 2, 3], [3, 2, 1]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    matrix = np.ones((len(values), len(values)))
    for one, other in combinations(range(len(values)), 2):
        matrix[one, other] = matrix[other, one] = agree(values[one], values[other])
    return matrix


def mean_agreement(matrix: Float[np.ndarray, "run run"]) -> float:
    """The mean over pairs of different runs.

    >>> mean_agreement(np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.0]]))
    0.3
    """
    return float(matrix[np.triu_indices(len(matrix), 1)].mean())


def jackknife(matrix: Float[np.ndarray, "run run"]) -> Float[np.ndarray, " bound"]:
    """The 95% interval of the mean over pairs of runs, by leaving out one run after the other; NaN below three runs."""
    runs = len(matrix)
    if runs < 3:
        return np.full(2, np.nan)
    without = [mean_agreement(np.delete(np.delete(matrix, run, 0), run, 1)) for run in range(runs)]
    error = np.sqrt((runs - 1) * np.var(without))
    return np.clip(mean_agreement(matrix) + float(t.ppf(0.975, runs - 1)) * error * np.array([-1, 1]), -1, 1)
