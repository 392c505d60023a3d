"""What mutation testing found untested: sums over inputs, gains of scores, halves, and values at a threshold."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm, spearmanr

from headscope.statistics.bootstrap import CHUNK, poisson_draws, tally, tally_by_input
from headscope.statistics.columns import Columns
from headscope.statistics.intervals import Score, effective_units, interval, mean_of, of_shares
from headscope.statistics.rank_correlation import spearman
from headscope.statistics.significance import (
    LEAST_CASES,
    benjamini_hochberg,
    enough,
    is_special,
    q_changed,
    q_no_worse,
    surely,
)
from headscope.statistics.split_half import BestHead, Selection, held_out_scores, split_in_half, split_of

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(2,), (2, 3)])
def test_cases_are_summed_by_their_inputs(shape: tuple[int, ...]) -> None:
    """Of more inputs than are resampled at a time; some have no case, and rows are sums of several cases."""
    inputs = np.sort(RANDOM.integers(0, 2 * CHUNK + 9, 3 * CHUNK))
    values, cases = RANDOM.random((len(inputs), *shape)), RANDOM.integers(1, 4, len(inputs))
    draws = RANDOM.poisson(1.0, (5, 2 * CHUNK + 9)).astype(np.uint8)
    for given in (None, cases):
        weights = np.ones(len(inputs)) if given is None else given
        found = tally_by_input(values, inputs, draws, given)
        drawn = draws[:, inputs].astype(float)
        np.testing.assert_allclose(found.mean, values.sum(0) / weights.sum(), rtol=1e-12)
        np.testing.assert_allclose(found.resampled_total, np.tensordot(drawn, values, 1), rtol=1e-12)
        expected = np.broadcast_to((drawn @ weights).reshape(5, *[1] * (len(shape) - 1)), (5, *shape[1:]))
        np.testing.assert_allclose(found.resampled_count, expected, rtol=1e-12)


def test_without_cases_nothing_is_summed() -> None:
    found = tally_by_input(np.empty((0, 2)), np.empty(0, int), np.ones((3, 4)))
    assert np.isnan(found.mean).all() and found.count == 0


def test_right_answers_of_many_words_do_not_overflow() -> None:
    right = np.ones((300, 1), dtype=np.uint8)
    assert tally_by_input(right, np.zeros(300, int), np.ones((2, 1))).total == 300


def test_a_difference_is_resampled_with_its_baseline() -> None:
    draws = poisson_draws(range(40), 0, 30)
    heads, fixed = RANDOM.random((40, 3)), RANDOM.random((40, 2))
    less = tally(heads, np.ones(40, bool), draws).less(tally(fixed, np.ones(40, bool), draws), row=1)
    np.testing.assert_allclose(less.total, heads.sum(0) - fixed.sum(0)[1])
    np.testing.assert_allclose(less.resampled_total, draws @ heads - (draws @ fixed)[:, 1:])


def test_scores_are_subtracted_averaged_and_cut_with_their_resamples() -> None:
    one, other = (
        Score(RANDOM.random(3), RANDOM.random((50, 3)), count=7, units=12.0, of_answers=True) for _ in range(2)
    )
    gain, mean = one - other, mean_of([one, other])
    np.testing.assert_array_equal(gain.mean, one.mean - other.mean)
    np.testing.assert_array_equal(gain.resampled, one.resampled - other.resampled)
    assert not gain.of_answers and gain.of_gains and (gain.count, gain.units) == (7, 12.0)
    np.testing.assert_array_equal(mean.mean, (one.mean + other.mean) / 2)
    np.testing.assert_array_equal(mean.resampled, (one.resampled + other.resampled) / 2)
    assert mean.of_answers and one[1:].count == 7
    np.testing.assert_array_equal(one[1:].mean, one.mean[1:])
    np.testing.assert_array_equal(one[1:].resampled, one.resampled[:, 1:])


def test_intervals_of_several_dimensions_keep_the_bound_last() -> None:
    resampled, units = RANDOM.random((200, 4, 3)), np.array([[5.0], [9.0], [30.0], [1e6]])
    bounds = interval(resampled, np.broadcast_to(units, (4, 3)))
    for row in range(4):
        np.testing.assert_allclose(bounds[row], interval(resampled[:, row], float(units[row, 0])))
    none = of_shares(np.zeros((4, 3, 2)), np.zeros((4, 3)), units)
    assert none.shape == (4, 3, 2) and (none[..., 0] == 0).all()
    np.testing.assert_allclose(none[:, 0, 1], 1 - 0.025 ** (1 / units[:, 0]))


def test_equal_counts_of_each_resample_are_of_any_number_of_units() -> None:
    counts = np.stack([np.full(50, 6.0), np.tile([5.5, 6.5], 25)], axis=1)
    assert effective_units(counts).tolist() == [np.inf, pytest.approx(144.0)]


def test_one_unit_has_the_interval_of_two() -> None:
    values = np.linspace(0, 1, 1001)
    np.testing.assert_array_equal(interval(values, 1.0), interval(values, 2.0))
    assert interval(values, 3.0)[0] > interval(values, 2.0)[0]


def test_rank_correlations_are_those_of_scipy() -> None:
    one, other = RANDOM.integers(0, 5, (2, 3, 8)).astype(float)
    expected: Any = [spearmanr(a, b) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(spearman(one, other), [correlation.statistic for correlation in expected])
    for index in (0, 1):
        both = [one.copy(), other.copy()]
        both[index][1, 2] = np.nan
        found = spearman(*both)
        assert np.isnan(found[1]) and np.isfinite(found[[0, 2]]).all()
    assert np.isnan(spearman(np.ones(4), np.arange(4.0))) and np.isnan(spearman(np.arange(4.0), np.ones(4)))


def test_gains_of_a_loss_are_tested_as_normal() -> None:
    gains, errors = np.array([0.01, -0.03, 0.0]), np.array([0.02, 0.01, 0.005])
    half = norm.ppf(0.975) * errors
    array = xr.DataArray(gains, {"lower": ("head", gains - half), "upper": ("head", gains + half)}, ["head"])
    p = norm.sf((gains + 0.02) / errors)
    q = q_no_worse(array, 0.02, 100, of_answers=False)
    assert q is not None
    np.testing.assert_allclose(q, benjamini_hochberg(p))


def test_a_change_is_two_sided_and_only_those_in_question_are_counted() -> None:
    one = xr.DataArray([-0.1], {"lower": ("head", [-0.2]), "upper": ("head", [0.0])}, ["head"])
    q = q_changed(one)
    assert q is not None and q.item() == pytest.approx(0.05)
    assert surely(xr.DataArray([0.05, 0.01]), "heads").startswith("1 beyond")
    assert surely(xr.DataArray([0.01, 0.01]), "heads", xr.DataArray([True, False])).startswith("1 beyond")
    assert surely(None, "heads") == ""


def test_thresholds_belong_to_the_named_side() -> None:
    assert enough(LEAST_CASES) and not enough(LEAST_CASES - 1)
    assert is_special(0.1, 0.049, LEAST_CASES)
    assert not is_special(0.099, 0.0, 99) and not is_special(0.2, 0.05, 99) and not is_special(0.2, 0.0, 49)


def test_halves_depend_on_the_seed_alone() -> None:
    halves = [split_in_half(101, seed) for seed in (3, 3, 4)]
    assert (halves[0] == halves[1]).all() and (halves[0] != halves[2]).any()
    assert [half.sum() for half in halves] == [51] * 3 and split_in_half(0, 0).size == 0
    inputs, units = np.array([0, 0, 1, 3]), np.array([5, 5, 5, 8])
    split = split_of(inputs, units, 4, 30)
    assert split.draws.dtype == np.uint8
    np.testing.assert_array_equal(split.draws, poisson_draws([5, 5, 2, 8], 4, 30))
    np.testing.assert_array_equal(split.selection_half, split_in_half(np.array([5, 5, 2, 8]), 4))


def test_shares_that_are_held_out_have_the_interval_of_shares() -> None:
    draws = poisson_draws(range(30), 0, 100)
    none_right = BestHead(Selection(0), tally(np.zeros((30, 2)), np.ones(30, bool), draws))
    (upper_of_share,) = held_out_scores([none_right], 0, share=True)[1][:, 1]
    (upper_of_mean,) = held_out_scores([none_right], 0)[1][:, 1]
    assert upper_of_mean == 0 < upper_of_share < 0.2


@pytest.mark.parametrize("documents", [3, 4, 5])
def test_a_half_of_fewer_than_five_documents_has_no_interval(documents: int) -> None:
    inputs = np.arange(20 * documents)
    draws = poisson_draws(inputs // 20, 0, 1000)
    half = BestHead(Selection(0), tally(inputs[:, None] % 7, np.ones(len(inputs), bool), draws))
    assert np.isnan(held_out_scores([half], 0)[1]).all() == (documents < 5)


def test_rows_of_other_columns_are_not_joined() -> None:
    class Three(Columns):
        def _columns(self) -> list[np.ndarray]:
            return [np.zeros(1)] * 3

    class Two(Three):
        def _columns(self) -> list[np.ndarray]:
            return [np.zeros(1)] * 2

    with pytest.raises(ValueError, match="argument 2 is shorter"):
        Three.concatenate([Three(), Two()])
