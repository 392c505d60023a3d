"""The loss at points around the weights of a trained model, and how far it stays below a level."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.stats import t
from torch import Tensor, nn

from headscope.errors import HeadscopeError

Weights = dict[str, Tensor]
Losses = Callable[[], Float[np.ndarray, " example"]]
LEVEL = 0.975
HALVINGS = 6


def weights_of(network: nn.Module) -> Weights:
    """A copy of the floating-point weights; shared ones are there once."""
    return {
        name: weight.detach().clone() for name, weight in network.named_parameters() if torch.is_floating_point(weight)
    }


def between(start: Weights, end: Weights) -> Weights:
    """The way from one point to another.

    Raises `HeadscopeError` for weights of other names or sizes.
    """
    shapes = [{name: weight.shape for name, weight in weights.items()} for weights in (start, end)]
    if shapes[0] != shapes[1]:
        other = next(iter(sorted(name for name in shapes[0] | shapes[1] if shapes[0].get(name) != shapes[1].get(name))))
        raise HeadscopeError(
            f"weight '{other}' of the trained model is not that of its start; name the model that it was trained from, "
            "and the same task"
        )
    return {name: end[name] - start[name] for name in start}


def filter_direction(weights: Weights, seed: int) -> Weights:
    """A random direction in which each filter, a row of a matrix, is as long as that of the weights.

    Li et al. 2018, section 4: vectors, such as biases and those of normalisations, stay as they are.

    >>> made = filter_direction({"w": torch.tensor([[3.0, 4.0], [0.0, 1.0]]), "b": torch.ones(2)}, seed=0)
    >>> made["w"].norm(dim=1).round(decimals=3).tolist(), made["b"].tolist()
    ([5.0, 1.0], [0.0, 0.0])
    """
    generator = torch.Generator().manual_seed(seed)
    direction = {}
    for name, weight in weights.items():
        drawn = torch.randn(weight.shape, generator=generator).to(weight)
        direction[name] = drawn * _lengths(weight) / _lengths(drawn).clamp_min(1e-12) if weight.ndim > 1 else 0 * weight
    return direction


def _lengths(weight: Tensor) -> Tensor:
    """The length of each row, with the axes of the weight."""
    rows = weight.double().flatten(1).norm(dim=1).to(weight)
    return rows.reshape(-1, *[1] * (weight.ndim - 1))


@contextmanager
def at(network: nn.Module, point: Weights, *moves: tuple[float, Weights]) -> Iterator[None]:
    """Within this context the network has the weights of a point moved by some steps along directions."""
    weights = dict(network.named_parameters())
    try:
        with torch.no_grad():
            for name, weight in point.items():
                weights[name].copy_(weight)
                for step, direction in moves:
                    weights[name].add_(direction[name], alpha=step)
        yield
    finally:
        with torch.no_grad():
            for name, weight in point.items():
                weights[name].copy_(weight)


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
        """How far both ways together go along a random direction before the mean loss has risen by `rise`."""
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
