"""What the seed decides: closed forms, and seeds that differ less or more than test sets do."""

import numpy as np
import pytest

from headscope.studies.training.finetune.seeds import early_correlation, seed_spread


def test_spread_is_in_standard_errors_with_the_interval_of_a_standard_deviation() -> None:
    by_seed = np.array([[0.5], [0.6], [0.7]])  # standard deviation 0.1
    resamples = np.tile(np.array([[[0.4]], [[0.6]]]), (1, 3, 1))  # standard error 0.1
    made = seed_spread(by_seed, resamples)
    assert made["seed_spread"] == pytest.approx([1.0])
    assert made["seed_spread_ci"][0] == pytest.approx([0.5207, 6.2847], abs=1e-4)  # chi-square, 2 degrees of freedom


@pytest.mark.parametrize(("effect", "least", "most"), [(0.0, 0.0, 0.05), (3.0, 0.9, 1.0)])
def test_seeds_move_the_score_more_only_where_they_do(effect: float, least: float, most: float) -> None:
    """Ten seeds on one test set of standard error 1; of no effect the interval lies above 1 in at most one of 20."""
    rng, runs = np.random.default_rng(0), 200
    resamples = rng.normal(size=(500, 10, 1))
    spreads = [rng.normal(0, max(effect, 1.0), (10, 1)) for _ in range(runs)]
    above = [seed_spread(spread, resamples)["seed_spread_ci"][0, 0] > 1 for spread in spreads]
    assert least <= np.mean(above) <= most


def test_early_scores_are_those_after_a_third_of_the_epochs() -> None:
    order = np.arange(5.0)
    scores = np.stack([order, -order, order], axis=1)[..., None]  # [seed, epoch, metric]
    assert early_correlation(scores)["early_correlation"] == pytest.approx([1.0])
    assert early_correlation(scores[:, 1:])["early_correlation"] == pytest.approx([-1.0])
    lower, upper = early_correlation(scores)["early_correlation_ci"][0]
    assert 0.9 < lower < upper <= 1.0
    assert early_correlation(scores[:3]) == early_correlation(scores[:, :1]) == {}


def test_seeds_that_all_score_the_same_have_no_order() -> None:
    assert np.isnan(early_correlation(np.ones((5, 3, 1)))["early_correlation"]).all()
