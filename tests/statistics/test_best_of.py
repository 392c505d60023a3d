"""The best of several runs against an enumeration of all draws, and what early stopping loses."""

from itertools import product

import numpy as np
import pytest

from headscope.statistics.runs import expected_best, expected_best_interval, lost_by_stopping, lost_interval


def test_it_is_the_mean_of_the_best_over_all_draws() -> None:
    scores = np.array([0.3, 0.9, 0.3, 0.5])
    naive = [np.mean([max(drawn) for drawn in product(scores, repeat=trials)]) for trials in (1, 2, 3, 4)]
    assert expected_best(scores) == pytest.approx(naive)
    assert expected_best(np.stack([scores, scores + 1])) == pytest.approx(np.stack([naive, np.array(naive) + 1]))


def test_intervals_hold_the_value_and_are_points_of_equal_runs() -> None:
    scores = np.array([0.3, 0.9, 0.4, 0.5, 0.6])
    lower, upper = expected_best_interval(scores).T
    assert (lower <= expected_best(scores)).all() and (expected_best(scores) <= upper).all()
    assert expected_best_interval(np.full(3, 0.5)) == pytest.approx(np.full((3, 2), 0.5))


@pytest.mark.parametrize(("share", "lost"), [(0.0, 0.0), (0.25, 0.2), (0.5, 0.2), (0.75, 0.3)])
def test_what_is_lost_is_the_best_of_those_that_were_stopped(share: float, lost: float) -> None:
    early, last = np.array([0.5, 0.1, 0.4, 0.3]), np.array([0.6, 0.9, 0.7, 0.7])
    assert lost_by_stopping(early, last, share) == pytest.approx(lost)


def test_nothing_is_lost_where_early_scores_tell_the_last() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.4])
    assert [float(lost_by_stopping(scores, scores, share)) for share in (0.25, 0.5, 0.99)] == [0, 0, 0]
    assert lost_interval(scores, scores, 0.5).tolist() == [0, 0]
