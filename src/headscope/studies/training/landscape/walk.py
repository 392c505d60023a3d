"""The loss at points around the weights of a trained model, and how far it stays below a level."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import t
from torch import nn

from headscope.studies.training.landscape.weights import Weights, at, between, filter_direction

Losses = Callable[[], Float[np.ndarray, " example"]]
LEVEL = 0.975
HALVINGS = 6


@dataclass(frozen=True)
class Walk:
    """A network whose weights are moved, and the losses of its examples.

    * `start`, `end`: the weights before the training and after it.
    * `losses`: of the network as it is.
    """

    network: nn.Module
    start: Weights
    end: Weights
    losses: Losses

    def along(self, positions: Float[np.ndarray, " position"]) -> Float[np.ndarray, "position example"]:
        """The losses along the line: 0 is the start, 1 the end."""
        line = between(self.start, self.end)
        return np.stack([self._at((position - 1, line)) for position in positions.tolist()])

    def plane(self, seeds: tuple[int, int], steps: Float[np.ndarray, " step"]) -> Float[np.ndarray, "step step"]:
        """The mean loss over the plane of two random directions through the end."""
        first, second = (filter_direction(self.end, seed) for seed in seeds)
        return np.array([[self._at((a, first), (b, second)).mean() for b in steps.tolist()] for a in steps.tolist()])

    def width(self, seed: int, rise: float, distances: Float[np.ndarray, " step"]) -> float:
        """How far both ways together one may go along a random direction before the mean loss has risen by `rise`."""
        direction, level = filter_direction(self.end, seed), float(self._at().mean())

        def rise_at(distance: float) -> float:
            return float(self._at((distance, direction)).mean()) - level

        return reach(rise_at, rise, distances) + reach(lambda distance: rise_at(-distance), rise, distances)

    def _at(self, *moves: tuple[float, Weights]) -> Float[np.ndarray, " example"]:
        with at(self.network, self.end, *moves):
            return self.losses()


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
