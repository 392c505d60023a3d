"""Sums and counts that merge, and their bootstrap: exact means, honest intervals, the same in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.statistics.bootstrap import Tally, merge, poisson_draws, tally
from headscope.statistics.intervals import interval

HEADS = 2


def tally_of(values: np.ndarray, numbers: list[int] | None = None, resamples: int = 1000, seed: int = 0) -> Tally:
    """The tally of values [example, head], NaN where an example lacks the statistic."""
    draws = poisson_draws(range(len(values)) if numbers is None else numbers, seed, resamples)
    return tally(np.nan_to_num(values), ~np.isnan(values[:, 0]), draws)


def skewed(number: int, seed: int = 0) -> np.ndarray:
    """Values [example, head] as attention has them: most small, some large."""
    return np.random.default_rng(seed).beta(0.5, 2.0, (number, HEADS))


def test_the_mean_is_exact_and_leaves_out_examples_that_lack_the_statistic() -> None:
    values = skewed(500)
    values[::3] = np.nan
    found = tally_of(values)
    np.testing.assert_allclose(found.mean, np.nanmean(values, axis=0), rtol=1e-14)
    assert found.count == np.isfinite(values[:, 0]).sum()


def test_the_mean_of_float32_values_does_not_drift() -> None:
    values = np.full((3, HEADS), 0.1, dtype=np.float32)
    many = merge([tally(values, np.ones(3, bool), np.ones((1, 3)))] * 20_000)
    np.testing.assert_allclose(many.mean, np.float64(np.float32(0.1)), rtol=1e-11)


def test_without_any_example_all_is_missing() -> None:
    found = tally_of(np.full((4, HEADS), np.nan))
    assert np.isnan(found.mean).all() and np.isnan(found.interval).all() and found.count == 0


@pytest.mark.parametrize("cases", [1, 7])
def test_one_example_has_no_interval_and_two_have_one(cases: int) -> None:
    for number in (1, 2):
        values, counts = np.full((number, HEADS), 0.25 * cases), np.full(number, cases)
        found = tally(values, counts, poisson_draws(range(number), 0, 200))
        assert found.mean.tolist() == [0.25, 0.25]
        assert np.isnan(found.interval).all() == (number == 1)


@pytest.mark.parametrize("lacking", [0, 3])
def test_the_interval_is_that_of_the_ordinary_bootstrap(lacking: int) -> None:
    values = skewed(200)
    values[:lacking] = np.nan
    have = values[lacking:]
    random = np.random.default_rng(1)
    means = np.array([have[random.integers(0, len(have), len(have))].mean(0) for _ in range(4000)])
    expected = np.quantile(means, [0.025, 0.975], axis=0).T
    width = expected[:, 1] - expected[:, 0]
    found = tally_of(values, resamples=4000).interval
    assert (abs(found - expected) < 0.05 * width[:, None]).all()


def test_intervals_hold_the_true_mean_about_95_times_of_100() -> None:
    runs, number = 300, 60
    values = np.random.default_rng(2).beta(2.0, 3.0, (number, runs))
    lower, upper = tally_of(values).interval.T
    share = ((lower <= 0.4) & (0.4 <= upper)).mean()
    # A percentile bootstrap of 60 values holds slightly less; 3 standard errors of 300 runs are 4 points.
    assert 0.90 < share < 0.985


def test_quantiles_are_those_of_numpy() -> None:
    values = np.full((6, HEADS), np.nan)
    values[[1, 4]] = [[0.1, 0.9], [0.4, 0.3]]
    found = tally_of(values, resamples=200)
    counts = found.resampled_count[:, None]
    means = np.where(counts > 0, found.resampled_total / np.where(counts > 0, counts, 1), np.nan)
    assert np.isnan(means).any()
    np.testing.assert_allclose(found.interval, np.nanquantile(means, [0.025, 0.975], axis=0).T, rtol=1e-12)


def test_draws_are_poisson_and_differ_between_examples_seeds_and_resamples() -> None:
    draws = poisson_draws(range(400), seed=0, resamples=500)
    share = [np.mean(draws == k) for k in range(4)]
    np.testing.assert_allclose(share, np.exp(-1) / np.array([1, 1, 2, 6]), atol=0.005)
    assert abs(np.corrcoef(draws[:, :50].T) - np.eye(50)).max() < 0.25
    assert not np.array_equal(draws[:, :9], poisson_draws(range(9), seed=1, resamples=500))


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(order=st.permutations(range(12)), cut=st.integers(1, 11))
def test_order_and_shards_change_nothing(order: list[int], cut: int) -> None:
    values = skewed(12)
    values[[2, 7]] = np.nan
    unsplit = tally_of(values, resamples=50)
    shards = [tally_of(values[part], part, resamples=50) for part in (order[:cut], order[cut:])]
    for merged in (merge(shards), merge(shards[::-1])):
        np.testing.assert_allclose(merged.mean, unsplit.mean, rtol=1e-12)
        np.testing.assert_allclose(merged.interval, unsplit.interval, rtol=1e-12)
        assert merged.count == unsplit.count


def test_each_kind_has_its_own_count() -> None:
    values = np.arange(12.0).reshape(2, HEADS, 3)
    valid = np.array([[True, True, False], [True, False, False]])
    found = tally(values, valid, np.ones((4, 2)))
    assert found.count.tolist() == [2, 1, 0]
    np.testing.assert_array_equal(found.mean, [[3.0, 1.0, np.nan], [6.0, 4.0, np.nan]])
    np.testing.assert_array_equal(found.interval[..., 0], found.mean)


def test_a_mean_over_words_weighs_examples_by_their_words_and_resamples_them_whole() -> None:
    """Accuracies: how many words of each example are right, and how many there are."""
    right, words = np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), np.array([4, 2, 0])
    draws = np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    found = tally(right[:, :, None], words[:, None], draws)
    np.testing.assert_allclose(found.mean[:, 0], [4 / 6, 1 / 6])
    assert found.count.tolist() == [6]
    np.testing.assert_allclose(found.resampled_total[..., 0], [[4, 1], [6, 0], [3, 3]])
    assert found.resampled_count[:, 0].tolist() == [6, 8, 6]
    assert (found.interval[0, 0] > [0.5, 0.7]).all() and (found.interval[0, 0] < [0.55, 0.76]).all()
    apart = [tally(right[part, :, None], words[part, None], draws[:, part]) for part in ([0], [1, 2])]
    np.testing.assert_allclose(merge(apart).mean, found.mean)


def test_units_are_drawn_together() -> None:
    draws = poisson_draws([9, 4, 9], seed=0, resamples=50)
    assert np.array_equal(draws[:, 0], draws[:, 2]) and not np.array_equal(draws[:, 0], draws[:, 1])
    assert np.array_equal(draws[:, 1:2], poisson_draws([4], seed=0, resamples=50))


def test_resamples_of_nothing_have_no_column() -> None:
    assert poisson_draws([], seed=0, resamples=50).shape == (50, 0)


@pytest.mark.parametrize(("documents", "least"), [(15, 0.90), (40, 0.92)])
def test_intervals_over_few_documents_contain_the_mean_of_all(documents: int, least: float) -> None:
    random, covered = np.random.default_rng(documents), []
    draws = [poisson_draws(np.repeat(range(documents), 20), seed, 500) for seed in range(8)]
    for run in range(400):
        values = random.normal(0, 1, (documents, 1)).repeat(20, 1).reshape(-1, 1) + random.normal(
            0, 1, (documents * 20, 1)
        )
        lower, upper = tally(values, np.ones(len(values), bool), draws[run % 8]).interval[0]
        covered.append(lower <= 0 <= upper)
    assert np.mean(covered) >= least


def test_none_of_n_is_not_none_to_none() -> None:
    draws = poisson_draws(range(150), seed=0)
    none = tally(np.stack([np.zeros(150), np.ones(150), np.arange(150) % 2], axis=1), np.ones(150, bool), draws)
    assert none.interval[:2].tolist() == [[0, 0], [1, 1]]
    lower, upper = none.share_interval.T
    assert lower[0] == 0 and upper[0] == pytest.approx(1 - 0.025 ** (1 / 150), rel=0.15)
    assert upper[1] == 1 and lower[1] == pytest.approx(0.025 ** (1 / 150), rel=0.01)
    np.testing.assert_array_equal(none.share_interval[2], none.interval[2])


@pytest.mark.parametrize("documents", [8, 40])
def test_words_of_a_document_are_no_evidence_of_their_own(documents: int) -> None:
    """Where all ten words of a document are alike, no more than 5% of heads that are no better are called better."""
    means = np.random.default_rng(0).normal(size=(documents, 400))
    draws = poisson_draws(range(documents), 0, 300)
    found = tally(10 * means, np.full(documents, 10), draws)
    assert (found.p_above_zero < 0.05).mean() < 0.08
    sure = tally(10 * (means + 3), np.full(documents, 10), draws)
    assert (sure.p_above_zero < 0.05).mean() > 0.9
    beside = tally(np.full((documents, 1), 30.0), np.full(documents, 10), draws)
    np.testing.assert_allclose(sure.less(beside).p_above_zero, found.p_above_zero, rtol=1e-6)


def test_one_document_shows_nothing() -> None:
    alone = tally(np.array([[3.0], [0.0]]), np.array([3, 0]), poisson_draws(range(2), 0, 50))
    assert alone.p_above_zero.tolist() == [1.0]
    nothing = tally(np.zeros((2, 1)), np.zeros(2, dtype=int), poisson_draws(range(2), 0, 50))
    assert nothing.p_above_zero.tolist() == [1.0] and np.isnan(nothing.mean).all()


def test_other_estimates_have_intervals_of_the_same_width_for_few_examples() -> None:
    """The mean itself, given as another estimate, has its own interval; one example gives none."""
    values = np.random.default_rng(0).random((6, 2))
    of_six = tally(values, np.ones(6, bool), poisson_draws(range(6), 0, 400))
    with np.errstate(invalid="ignore"):
        means = of_six.resampled_total / of_six.resampled_count[:, None]
    np.testing.assert_array_equal(of_six.interval_of(means), of_six.interval)
    assert (np.diff(of_six.interval_of(means)) > np.diff(interval(means))).all()
    of_one = tally(values[:1], np.ones(1, bool), poisson_draws([0], 0, 400))
    assert np.isnan(of_one.interval_of(of_one.resampled_total)).all()
