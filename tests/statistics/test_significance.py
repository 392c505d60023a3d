"""Tests of a head against its baseline, and of many heads at once, against their definitions."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from headscope.statistics.significance import (
    POWER,
    benjamini_hochberg,
    better,
    mcnemar,
    power_of_mcnemar,
    smallest_change,
    smallest_fall,
)
from support.reference_rates import naive_rates

quick = settings(max_examples=50, deadline=None, derandomize=True, database=None)
counts = st.integers(0, 40)


@quick
@given(only_one=counts, only_other=counts)
def test_p_is_the_chance_of_so_many_heads_of_a_coin(only_one: int, only_other: int) -> None:
    tossed = only_one + only_other
    expected = sum(comb(tossed, number) for number in range(only_one, tossed + 1)) / 2**tossed
    np.testing.assert_allclose(better(np.array(only_one), np.array(only_other)), expected, rtol=1e-9)


def test_without_a_difference_nothing_is_significant() -> None:
    assert better(np.array([0, 10_000]), np.array([0, 10_000])).min() >= 0.5
    assert better(np.array(100_000), np.array(0)) == 0


@quick
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_q_is_the_least_rate_at_which_the_procedure_rejects(p: list[float]) -> None:
    """Step up: of the ordered p-values, all up to the last with p <= rank / number * rate are rejected."""
    found = benjamini_hochberg(np.array(p))
    for rate in (0.01, 0.05, 0.2, 0.5, 0.9):
        ranked = sorted(p)
        passing = [value for rank, value in enumerate(ranked, 1) if value <= rank / len(p) * rate - 1e-12]
        limit = max(passing, default=-1.0)
        assert all(q <= rate + 1e-9 for q, value in zip(found, p, strict=True) if value <= limit)
    order = np.argsort(p)
    assert (np.diff(found[order]) >= -1e-12).all() and (found >= np.array(p) - 1e-12).all()


@quick
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_q_is_that_of_a_loop(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(np.array(p)), naive_rates(p), rtol=1e-9)


def test_q_in_closed_form() -> None:
    np.testing.assert_allclose(benjamini_hochberg(np.array([0.01, 0.02, 0.03, 0.5])), [0.04, 0.04, 0.04, 0.5])


def test_what_was_not_tested_is_left_out_and_stays_missing() -> None:
    p = np.array([[0.01, np.nan], [0.04, 0.03]])
    np.testing.assert_allclose(benjamini_hochberg(p), [[0.03, np.nan], [0.04, 0.04]])
    assert np.isnan(benjamini_hochberg(np.array([np.nan]))).all()


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
    n, level, power = 5_000, norm.isf(0.025 / tests), norm.ppf(POWER)
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
