"""When half of a change was there, and the order of layers: by hand, and by naive loops."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import pearsonr

from headscope.studies.training.film.study import half_change, order_of_layers


def naive_half(changes: list[float], shares: list[float]) -> float:
    """The first crossing of half of the last change, between two steps on a straight line."""
    goal = changes[-1] / 2
    for (first, last), (low, high) in zip(pairwise(shares), pairwise(changes), strict=True):
        if high >= goal:
            return first + (last - first) * (goal - low) / (high - low)
    return float("nan")


@pytest.mark.parametrize("seed", range(5))
def test_half_of_a_change_is_the_naive_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    shares = np.array([0.0, 0.1, 0.4, 0.5, 1.0])
    changes = np.concatenate([np.zeros((1, 3, 4)), random.random((4, 3, 4))])
    ours = half_change(changes, shares)
    for index in np.ndindex(3, 4):
        naive = naive_half(changes[:, *index].tolist(), shares.tolist())
        assert ours[index] == pytest.approx(naive)


def test_what_has_not_changed_has_no_moment() -> None:
    assert np.isnan(half_change(np.array([[0.0], [0.3], [0.0]]), np.array([0.0, 0.5, 1.0]))).all()


def test_order_is_the_correlation_with_the_layer() -> None:
    halves = np.random.default_rng(0).random((6, 5))
    ours = order_of_layers(halves)
    assert ours == pytest.approx([pearsonr(np.arange(5), row)[0] for row in halves])


def test_two_layers_have_no_order() -> None:
    assert np.isnan(order_of_layers(np.array([[0.1, 0.9]]))).all()
