"""Walks over weights: closed forms on a quadratic loss, filters of equal norm, and that all weights are put back."""

import numpy as np
import pytest
import torch
from torch import nn

from headscope import HeadscopeError
from headscope.studies.training.landscape.walk import (
    Walk,
    at,
    between,
    filter_direction,
    mean_interval,
    reach,
    weights_of,
)


class Quadratic(nn.Module):
    """A loss of half the sum of squares of the weights, times a curvature."""

    def __init__(self, curvature: float):
        super().__init__()
        self.matrix = nn.Parameter(torch.tensor([[3.0, 4.0], [0.0, 2.0]]))
        self.bias = nn.Parameter(torch.tensor([1.0, -1.0]))
        self.curvature, self.bottom = curvature, weights_of(self)

    def losses(self) -> np.ndarray:
        squares = sum((weight.detach() - self.bottom[name]).square().sum() for name, weight in self.named_parameters())
        return np.full(3, float(self.curvature * squares / 2))  # type: ignore[arg-type]


def walk_of(network: Quadratic) -> Walk:
    start = {name: weight + 1 for name, weight in network.bottom.items()}
    return Walk(network, start, network.bottom, network.losses)


@pytest.mark.parametrize("curvature", [0.5, 4.0])
def test_width_of_a_quadratic_loss_is_that_of_its_formula(curvature: float) -> None:
    walk, rise = walk_of(Quadratic(curvature)), 0.3
    direction = filter_direction(walk.end, 7)
    length = float(torch.cat([weight.flatten() for weight in direction.values()]).norm())
    assert length == pytest.approx(np.sqrt(25 + 4))  # rows of lengths 5 and 2; the bias stays
    expected = 2 * np.sqrt(2 * rise / curvature) / length
    assert walk.width(7, rise, np.arange(1, 9) / 4) == pytest.approx(expected, rel=0.02)


def test_line_and_plane_of_a_quadratic_loss() -> None:
    network = Quadratic(1.0)
    walk = walk_of(network)
    positions = np.array([-0.5, 0.0, 0.5, 1.0, 1.5])
    np.testing.assert_allclose(walk.along(positions)[:, 0], 6 * (1 - positions) ** 2 / 2, rtol=1e-5, atol=1e-6)
    steps = np.array([-0.1, 0.0, 0.1])
    plane = walk.plane((1, 2), steps)
    one, other = (torch.cat([w.flatten() for w in filter_direction(walk.end, seed).values()]) for seed in (1, 2))
    naive = [[float((a * one + b * other).square().sum()) / 2 for b in steps.tolist()] for a in steps.tolist()]
    np.testing.assert_allclose(plane, naive, rtol=1e-4, atol=1e-6)
    assert all(torch.equal(weight, network.bottom[name]) for name, weight in network.named_parameters())


def test_filters_are_as_long_as_those_of_the_weights_and_the_seed_decides() -> None:
    weights = {"w": torch.randn(5, 3, 2), "b": torch.randn(4)}
    one, same, other = (filter_direction(weights, seed) for seed in (0, 0, 1))
    torch.testing.assert_close(one["w"].flatten(1).norm(dim=1), weights["w"].flatten(1).norm(dim=1))
    assert torch.equal(one["w"], same["w"]) and not torch.equal(one["w"], other["w"]) and not one["b"].any()


def test_weights_are_put_back_after_an_error() -> None:
    network = Quadratic(1.0)
    with pytest.raises(ZeroDivisionError), at(network, network.bottom, (2.0, filter_direction(network.bottom, 0))):
        assert network.losses()[0] > 1
        raise ZeroDivisionError
    assert network.losses()[0] == 0


def test_a_loss_that_does_not_rise_reaches_the_farthest_distance() -> None:
    distances = np.array([0.5, 1.0])
    assert reach(lambda distance: 0.0, 0.1, distances) == 1.0
    assert reach(lambda distance: 1.0, 0.1, distances) < 0.01


def test_interval_of_the_mean_over_directions() -> None:
    assert mean_interval(np.array([1.0, 2.0, 3.0])) == pytest.approx([0.0, 2 + 4.302653 / np.sqrt(3)])
    assert np.isnan(mean_interval(np.array([1.0]))).all()


def test_a_start_of_other_sizes_is_refused() -> None:
    with pytest.raises(HeadscopeError, match="weight 'w' of the trained model is not that of its start"):
        between({"w": torch.ones(2)}, {"w": torch.ones(3)})
