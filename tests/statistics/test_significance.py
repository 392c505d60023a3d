"""Tests of a head against its baseline, and of many heads at once, against their definitions."""

from math import comb

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.statistics.significance import benjamini_hochberg, better

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
        passing = [each for rank, each in enumerate(ranked, 1) if each <= rank / len(p) * rate - 1e-12]
        limit = max(passing, default=-1.0)
        assert all(q <= rate + 1e-9 for q, each in zip(found, p, strict=True) if each <= limit)
    order = np.argsort(p)
    assert (np.diff(found[order]) >= -1e-12).all() and (found >= np.array(p) - 1e-12).all()


def test_q_in_closed_form() -> None:
    np.testing.assert_allclose(benjamini_hochberg(np.array([0.01, 0.02, 0.03, 0.5])), [0.04, 0.04, 0.04, 0.5])


def test_what_was_not_tested_is_left_out_and_stays_missing() -> None:
    p = np.array([[0.01, np.nan], [0.04, 0.03]])
    np.testing.assert_allclose(benjamini_hochberg(p), [[0.03, np.nan], [0.04, 0.04]])
    assert np.isnan(benjamini_hochberg(np.array([np.nan]))).all()
