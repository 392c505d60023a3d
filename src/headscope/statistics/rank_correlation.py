"""Spearman's rank correlation along the last axis, and how far runs, such as seeds of a training, agree by it."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata, t


def spearman(
    first: Float[np.ndarray, "*dims case"], second: Float[np.ndarray, "*dims case"]
) -> Float[np.ndarray, "*dims"]:
    """Spearman's rank correlation of two arrays; NaN where one of the two is constant, or a value is missing.

    >>> spearman(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[3.0, 2, 1], [1, 2, 3]])).tolist()
    [-1.0, nan]
    """
    ranks = [rankdata(values, axis=-1) for values in (first, second)]
    x, y = (rank - rank.mean(-1, keepdims=True) for rank in ranks)
    size = np.sqrt((x**2).sum(-1) * (y**2).sum(-1))
    missing = np.isnan(first).any(-1) | np.isnan(second).any(-1)
    return np.divide((x * y).sum(-1), size, out=np.full(size.shape, np.nan), where=(size > 0) & ~missing)


def agreements(
    values: Float[np.ndarray, "run head"], agree: Callable[[np.ndarray, np.ndarray], float | np.ndarray] = spearman
) -> Float[np.ndarray, "run run"]:
    """How far each two runs agree; by default Spearman's correlation over heads.

    >>> agreements(np.array([[1.0, 2, 3], [3, 2, 1]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    matrix = np.ones((len(values), len(values)))
    for first, second in combinations(range(len(values)), 2):
        matrix[first, second] = matrix[second, first] = agree(values[first], values[second])
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
