"""A loss that reaches the tolerance is hardly ever called smaller, and one that does not often is."""

import numpy as np
import pytest
import xarray as xr

from headscope.statistics.non_inferiority import q_no_worse

TOLERANCE, RUNS = 0.02, 2000


def gains(losses: np.ndarray, won: float, n: int, random: np.random.Generator) -> xr.DataArray:
    """Gains of heads of these true losses, with their intervals by the normal distribution."""
    up, down = random.binomial(n, won, losses.shape), random.binomial(n, won + losses)
    gain, changed = (up - down) / n, (up + down) / n
    half = 1.96 * np.sqrt(np.maximum(changed - gain**2, 0) / n)
    return xr.DataArray(gain, {"lower": ("head", gain - half), "upper": ("head", gain + half)}, ["head"])


@pytest.mark.parametrize("n", [100, 400, 2000])
@pytest.mark.parametrize("won", [0.0, 0.01, 0.05])
def test_of_72_heads_that_lose_the_tolerance_one_is_called_free_in_at_most_5_percent_of_runs(n: int, won: float):
    random, wrong = np.random.default_rng(n), 0
    for _ in range(RUNS // 10):
        q = q_no_worse(gains(np.full(72, TOLERANCE), won, n, random), TOLERANCE, n, of_answers=True)
        assert q is not None
        wrong += bool((q < 0.05).any())
    assert wrong <= 0.075 * RUNS // 10  # 5%, and two standard errors of so many runs


def test_heads_that_lose_nothing_are_found_with_enough_examples():
    random = np.random.default_rng(0)
    losses = np.repeat([0.0, 0.04], 36)
    q = q_no_worse(gains(losses, 0.005, 3000, random), TOLERANCE, 3000, of_answers=True)
    assert q is not None and (q[:36] < 0.05).all() and not (q[36:] < 0.05).any()


def test_without_intervals_there_is_no_test():
    assert q_no_worse(xr.DataArray([0.0], dims=["head"]), 0.01, 100, of_answers=True) is None
