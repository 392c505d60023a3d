"""When half of a change was there, and whether layers change in an order."""

import numpy as np
from jaxtyping import Float

# Smaller changes are rounding.
SAME = 1e-5


def half_change(
    changes: Float[np.ndarray, "step *dims"], shares: Float[np.ndarray, " step"]
) -> Float[np.ndarray, "*dims"]:
    """The share of the steps at which half of the last step's change was first there; between steps on a straight line.

    NaN where nothing has changed.

    * `changes`: of each step, 0 at the first; `shares`: the share of the training that each step ends, from 0 to 1.

    >>> half_change(np.array([[0.0, 0.0], [0.1, 0.4], [0.2, 0.4]]), np.array([0.0, 0.5, 1.0])).tolist()
    [0.5, 0.25]
    """
    goal = changes[-1] / 2
    after = np.maximum((changes >= goal).argmax(0), 1)
    low, high = (np.take_along_axis(changes, at[None], 0)[0] for at in (after - 1, after))
    width = np.where(high > low, high - low, 1.0)
    first, last = shares[after - 1], shares[after]
    return np.where(changes[-1] > SAME, first + (goal - low) / width * (last - first), np.nan)


def order_of_layers(halves: Float[np.ndarray, "draw layer"]) -> Float[np.ndarray, " draw"]:
    """The correlation of the number of a layer with when half of its change was there.

    Below 0 where upper layers change earlier. NaN with fewer than three layers, and where all changed together.

    >>> order_of_layers(np.array([[0.6, 0.5, 0.4], [0.4, 0.4, 0.4]])).round(3).tolist()
    [-1.0, nan]
    """
    layers = np.arange(halves.shape[-1], dtype=float)
    if len(layers) < 3:
        return np.full(halves.shape[:-1], np.nan)
    x, y = layers - layers.mean(), halves - halves.mean(-1, keepdims=True)
    length = np.sqrt((x**2).sum() * (y**2).sum(-1))
    return np.divide((x * y).sum(-1), length, out=np.full(length.shape, np.nan), where=length > SAME)
