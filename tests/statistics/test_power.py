"""The smallest fall that would have been found: against closed forms, and against simulated experiments."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from headscope.statistics.power import POWER, power_of_mcnemar, smallest_change, smallest_fall
from headscope.statistics.significance import mcnemar


def test_where_all_changes_are_losses_power_is_the_chance_of_enough_of_them() -> None:
    """Six losses and no gain are significant (2 / 2^6 = 0.031), five are not."""
    for n, fall in ((100, 0.05), (408, 0.01), (20, 0.9)):
        assert power_of_mcnemar(fall, n, 0.0, 0.05) == pytest.approx(binom.sf(5, n, fall))
    found = smallest_fall(408, 0.0)
    assert binom.sf(5, 408, found) == pytest.approx(POWER, abs=1e-6)


@pytest.mark.parametrize("tests", [1, 144])
@pytest.mark.parametrize("discordance", [0.05, 0.2])
def test_of_many_examples_it_is_that_of_the_normal_approximation(discordance: float, tests: int) -> None:
    """Connor 1987: d sqrt(n) = z_level sqrt(discordance) + z_power sqrt(discordance - d^2), solved for d."""
    n, level, power = 20_000, norm.isf(0.025 / tests), norm.ppf(POWER)
    a, b = level * np.sqrt(discordance), n + power**2
    expected = (a * np.sqrt(n) + power * np.sqrt(discordance * b - a**2)) / b
    assert smallest_fall(n, discordance, tests) == pytest.approx(expected, rel=0.03)


def test_so_many_simulated_experiments_find_it() -> None:
    n, discordance, tests = 408, 0.1, 72
    fall, random = smallest_fall(n, discordance, tests), np.random.default_rng(0)
    draw = random.random((4000, n))
    lost, gained = (discordance + fall) / 2, (discordance - fall) / 2
    before = draw < 0.5  # of these the first are lost; of the others the last are gained
    p = np.array([mcnemar((one & (x >= lost)) | (x >= 1 - gained), one) for one, x in zip(before, draw, strict=True)])
    assert (p < 0.05 / tests).mean() == pytest.approx(POWER, abs=0.03)


def test_fewer_examples_more_tests_and_more_noise_hide_larger_falls() -> None:
    known = smallest_fall(408, 0.05)
    assert known < min(smallest_fall(200, 0.05), smallest_fall(408, 0.05, 72), smallest_fall(408, 0.2))
    assert np.isnan(smallest_fall(5, 0.0)) and np.isnan(smallest_fall(0, 0.1))


def test_a_normal_estimate_is_found_as_often_as_it_says() -> None:
    error, tests = 0.02, 12
    change = smallest_change(error, tests)
    seen = np.random.default_rng(0).normal(change, error, 100_000)
    assert (2 * norm.sf(abs(seen) / error) < 0.05 / tests).mean() == pytest.approx(POWER, abs=0.01)
