"""How small a model may be: closed forms of the size down to which no more than the tolerance is lost."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from headscope.passes import Settings
from headscope.studies.size.shrink.held_out import needed_share
from headscope.studies.size.shrink.judge import TaskJudge

SHARES = np.array([1.0, 0.8, 0.6, 0.4])
UNTRAINED = (-1.0, -1.0)
NO_SCORES: Any = None  # those of a task are not looked at


def gains(*bounds: tuple[float, float]) -> np.ndarray:
    """Gains with their intervals, of the models of four steps, of one that is skipped and of the saved one."""
    return np.column_stack([np.mean(bounds, axis=1), bounds])


def test_the_needed_share_ends_at_the_first_size_that_fails() -> None:
    path = [(0.0, 0.0), (-0.01, 0.0), (-0.03, 0.0), (-0.01, 0.01)]
    assert needed_share(gains(*path, UNTRAINED, (-0.5, -0.4)), SHARES, 0.02).tolist() == [0.4, 0.4, 0.8]


def test_a_saved_model_that_is_as_good_needs_no_more_than_its_size() -> None:
    path = [(0.0, 0.0), (-0.3, -0.2), (-0.4, -0.3), (-0.5, -0.4)]
    assert needed_share(gains(*path, UNTRAINED, (-0.01, 0.01)), SHARES, 0.02).tolist() == [0.4, 0.4, 0.4]
    assert needed_share(gains(*path, UNTRAINED, (-0.5, -0.4)), SHARES, 0.02).tolist() == [1, 1, 1]


def test_without_intervals_every_size_may_do_and_none_surely() -> None:
    unknown = [(0.0, 0.0), *[(np.nan, np.nan)] * 5]
    assert needed_share(gains(*unknown), SHARES, 0.02)[1:].tolist() == [0.4, 1]


def judge(metric: str, targets: np.ndarray, resamples: int) -> TaskJudge:
    """A judge by a task that has what its scores ask for."""
    dev, nothing = SimpleNamespace(units=range(len(targets))), cast("Any", None)
    task: Any = SimpleNamespace(metrics=(metric,), targets=lambda corpus: targets, dev=dev)
    return TaskJudge(nothing, task, nothing, Settings(resamples=resamples), 0.02)


def test_few_answers_of_which_none_is_lost_promise_nothing() -> None:
    """A bootstrap alone would find an interval of no width."""
    for number, surely in ((20, 1.0), (2000, 0.4)):
        targets = np.arange(number) % 2
        outputs = [np.eye(2)[targets]] * 6
        found = needed_share(judge("accuracy", targets, 200).gains(outputs, NO_SCORES), SHARES, 0.02)
        assert found.tolist() == [0.4, 0.4, surely]


def test_where_a_metric_is_a_loss_what_grows_is_worse() -> None:
    targets = np.zeros(400)
    errors = np.sqrt([0.1, 0.105, 0.2, 0.2, 0.9, 0.2])
    outputs = [np.full((400, 1), error) for error in errors]
    found = judge("squared_error", targets, 50).gains(outputs, NO_SCORES)
    np.testing.assert_allclose(found[:, 0], 0.1 - errors**2, atol=1e-6)
    assert needed_share(found, SHARES, 0.02).tolist() == [0.8, 0.8, 0.8]
