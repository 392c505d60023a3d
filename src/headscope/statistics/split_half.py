"""A head is chosen on one half of the inputs and scored on the other."""

import numpy as np
from jaxtyping import Bool, Int, UInt8

from headscope.statistics.bootstrap import Tally, merge, tally

# Inputs are resampled so many at a time.
TOGETHER = 1024
Draws = UInt8[np.ndarray, "resample input"]


def halves(inputs: int, seed: int) -> Bool[np.ndarray, " input"]:
    """Which inputs heads are chosen on: every other one, in an order that depends on the seed.

    >>> sorted(halves(4, seed=0).tolist())
    [False, False, True, True]
    """
    return np.random.default_rng(seed).permutation(inputs) % 2 == 0


def summed(values: np.ndarray, numbers: Int[np.ndarray, " case"], draws: Draws) -> Tally:
    """The tally of values [case, ...] over cases (words); inputs are resampled whole: their cases depend on each other.

    * `numbers`: of the input that each case is in, in ascending order.
    """
    found, starts, counts = np.unique(numbers, return_index=True, return_counts=True)
    dtype = np.result_type(values, np.int64)
    sums = np.add.reduceat(values, starts, dtype=dtype) if len(numbers) else values.astype(dtype)
    valid = np.broadcast_to(counts.reshape(-1, *[1] * (values.ndim - 2)), (len(found), *values.shape[2:]))
    parts = [slice(first, first + TOGETHER) for first in range(0, max(1, len(found)), TOGETHER)]
    return merge(tally(sums[part], valid[part], draws[:, found[part]].astype(float)) for part in parts)
