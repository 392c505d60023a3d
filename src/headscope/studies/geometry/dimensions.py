"""Dimensions of hidden states that stand out: in the anisotropy, and by their mean."""

import numpy as np
from jaxtyping import Float, Int

# Dimensions that are named.
SHARES = 3
DEVIATIONS = 3.0
Units = Float[np.ndarray, "occurrence width"]


def largest_shares(units: Units) -> tuple[Int[np.ndarray, " rank"], Float[np.ndarray, " rank"]]:
    """The dimensions that add most to the mean cosine of random tokens (Timkey and van Schijndel 2021, section 3).

    * `units`: vectors of length 1; the mean cosine is the squared length of their mean, a sum over dimensions.

    Returns: the numbers of the `SHARES` largest, from 0, and their shares of the sum.
    """
    added = np.square(units.mean(0, dtype=np.float64))
    order = np.argsort(-added, kind="stable")[:SHARES]
    return order, added[order] / max(added.sum(), np.finfo(np.float64).tiny)


def without(units: Units, dimensions: Int[np.ndarray, " rank"]) -> Units:
    """The vectors without some dimensions, of length 1 again."""
    kept = np.delete(units, dimensions, axis=1)
    return kept / np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def outliers(vectors: Float[np.ndarray, "occurrence width"]) -> int:
    """The number of dimensions whose mean is more than 3 standard deviations from the mean of all dimensions."""
    means = vectors.mean(0, dtype=np.float64)
    return int((abs(means - means.mean()) > DEVIATIONS * means.std()).sum())
