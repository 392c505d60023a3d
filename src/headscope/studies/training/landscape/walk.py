"""The loss at points around the weights of a trained model."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import nn

from headscope.studies.training.landscape.weights import Weights, at, between, filter_direction
from headscope.studies.training.landscape.widths import reach

Losses = Callable[[], Float[np.ndarray, " example"]]


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
        one, other = (filter_direction(self.end, seed) for seed in seeds)
        return np.array([[self._at((a, one), (b, other)).mean() for b in steps.tolist()] for a in steps.tolist()])

    def width(self, seed: int, rise: float, distances: Float[np.ndarray, " step"]) -> float:
        """How far both ways together one may go along a random direction before the mean loss has risen by `rise`."""
        direction, level = filter_direction(self.end, seed), float(self._at().mean())

        def rise_at(distance: float) -> float:
            return float(self._at((distance, direction)).mean()) - level

        return reach(rise_at, rise, distances) + reach(lambda distance: rise_at(-distance), rise, distances)

    def _at(self, *moves: tuple[float, Weights]) -> Float[np.ndarray, " example"]:
        with at(self.network, self.end, *moves):
            return self.losses()
