"""The loss during a training, in equal parts."""

import numpy as np
from jaxtyping import Float

# Equal parts of a training over which the loss is averaged.
PARTS = 50


def loss_curve(losses: Float[np.ndarray, " step"]) -> Float[np.ndarray, " part"]:
    """Mean loss of each of `PARTS` equal parts of a training; with fewer steps than parts, steps are repeated.

    >>> loss_curve(np.array([3.0, 1.0]))[[0, 24, 25, 49]]
    array([3., 3., 1., 1.])
    """
    if not len(losses):
        return np.full(PARTS, np.nan)
    starts = np.arange(PARTS) * len(losses) // PARTS
    stops = np.maximum(starts + 1, (np.arange(PARTS) + 1) * len(losses) // PARTS)
    return np.array([losses[start:stop].mean(dtype=np.float64) for start, stop in zip(starts, stops, strict=True)])
