"""Spearman's rank correlation along the last axis."""

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata


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
