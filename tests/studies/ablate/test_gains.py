"""Exact tests and paired intervals, against what they are by definition."""

import numpy as np
import pytest
from scipy.stats import binomtest

from headscope.corpora.tasks import score
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.significance import mcnemar
from headscope.studies.size.ablate.gains import Gains
from support.reference import levels

RANDOM = np.random.default_rng(0)
TARGETS = RANDOM.integers(0, 2, 30).astype(float)


def gains(metrics: tuple[str, ...] = ("accuracy", "cross_entropy"), n: int = 30) -> Gains:
    random = np.random.default_rng(1)
    outputs = random.normal(size=(4, n, 2)).astype(np.float32)
    return Gains(metrics, outputs, random.normal(size=(n, 2)).astype(np.float32), TARGETS[:n], range(n), 0, 40)


def test_mcnemar_is_the_two_sided_binomial_test() -> None:
    before = RANDOM.random(40) < 0.7
    for _ in range(20):
        right = before ^ (RANDOM.random(40) < 0.3)
        gained, lost = int((right & ~before).sum()), int((before & ~right).sum())
        expected = binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1.0
        assert mcnemar(right[None], before)[0] == pytest.approx(expected)


def test_intervals_are_those_of_differences_in_the_same_resamples() -> None:
    found = gains()
    draws = poisson_draws(range(30), 0, 40).astype(int)
    differences = []
    for times in draws:
        chosen = np.repeat(np.arange(30), times)
        one, other = (score("accuracy", logits[chosen], TARGETS[chosen]) for logits in (found.outputs[2], found.before))
        differences.append(one - other)
    low, high = np.quantile(differences, levels(30))
    np.testing.assert_allclose(found.interval[2, 0], [low, high], atol=1e-12)


def test_a_variant_that_answers_the_same_gains_nothing_for_sure() -> None:
    found = gains()
    same = Gains(found.metrics, found.before[None], found.before, TARGETS, range(30), 0, 40)
    assert not same.gains.any() and not same.interval.any()


def test_a_part_is_drawn_by_its_examples_numbers() -> None:
    found, half = gains(), np.arange(0, 30, 2)
    part = found.part(half, np.array([3, 1]))
    np.testing.assert_allclose(part.scores[1, 0], score("accuracy", found.outputs[3][half], TARGETS[half]))
    expected = Gains(
        found.metrics, found.outputs[[3, 1]][:, half], found.before[half], TARGETS[half], half.tolist(), 0, 40
    )
    np.testing.assert_array_equal(part.interval, expected.interval)
