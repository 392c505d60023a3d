"""Weights of a network as points: the line between two, random directions, and moves along them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from headscope.errors import HeadscopeError

Weights = dict[str, Tensor]


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
    """Within this context the network has the weights of a point and some moves from it: steps along directions."""
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
