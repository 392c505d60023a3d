"""Metrics against scikit-learn and scipy, and what a bootstrap of them is."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as reference

from headscope.corpora.tasks import LOWER_IS_BETTER, METRICS, resampled, score
from headscope.statistics.bootstrap import poisson_draws

N = 60


def cases(classes):
    random = np.random.default_rng(classes)
    return random.normal(size=(4, N, classes)).astype(np.float32), random.integers(0, classes, N).astype(float)


def of_classes(metric, **options):
    return lambda outputs, targets: metric(targets, outputs.argmax(-1), **options)


REFERENCES = {
    ("accuracy", 3): of_classes(reference.accuracy_score),
    ("f1", 2): of_classes(reference.f1_score),
    ("macro_f1", 3): of_classes(reference.f1_score, average="macro"),
    ("matthews", 2): of_classes(reference.matthews_corrcoef),
    ("matthews", 3): of_classes(reference.matthews_corrcoef),
    ("pearson", 1): lambda outputs, targets: stats.pearsonr(outputs[:, 0].astype(float), targets)[0],
    ("spearman", 1): lambda outputs, targets: stats.spearmanr(outputs[:, 0], targets)[0],
    ("squared_error", 1): lambda outputs, targets: reference.mean_squared_error(targets, outputs[:, 0]),
    ("cross_entropy", 3): lambda outputs, targets: reference.log_loss(
        targets, np.exp(outputs.astype(float)) / np.exp(outputs.astype(float)).sum(-1, keepdims=True)
    ),
}


@pytest.mark.parametrize(("metric", "classes"), REFERENCES)
def test_every_variant_is_what_the_reference_gives(metric, classes):
    outputs, targets = cases(classes)
    if classes == 1:
        targets = np.random.default_rng(9).normal(size=N).round(1)
        outputs = outputs.round(1)  # so that there are ties
    expected = [REFERENCES[metric, classes](variant, targets) for variant in outputs]
    np.testing.assert_allclose(score(metric, outputs, targets), expected, rtol=1e-6, atol=1e-12)


def test_loss_of_masked_words_weighs_every_word_the_same():
    outputs = np.array([[6.0, 2], [1.0, 1], [0.0, 0]])
    assert score("loss", outputs, np.zeros(3)) == pytest.approx(7 / 3)


def test_perplexity_and_bits_are_those_of_the_loss():
    outputs = np.array([[6.0, 2, 9], [1.0, 1, 5]])
    found = [score(metric, outputs, np.zeros(2)) for metric in ("perplexity", "probability", "bits_per_character")]
    assert found == pytest.approx([np.exp(7 / 3), np.exp(-7 / 3), 7 / 14 / np.log(2)])


@pytest.mark.parametrize("metric", ["f1", "matthews", "pearson", "spearman"])
def test_undefined_is_zero(metric):
    outputs = np.zeros((3, 1 if metric in ("pearson", "spearman") else 2))
    assert score(metric, outputs, np.array([0.0, 0.0, 0.0])) == 0


@pytest.mark.parametrize("metric", METRICS)
def test_bootstrap_scores_the_examples_as_often_as_they_are_drawn(metric):
    outputs, targets = cases(3 if metric == "bits_per_character" else 2)
    draws = poisson_draws(range(N), seed=3, resamples=5)
    many = resampled(metric, outputs, targets, draws)
    assert many.shape == (5, 4)
    for resample, times in enumerate(draws.astype(int)):
        index = [number for number, count in enumerate(times) for _ in range(count)]
        for variant in range(4):
            assert many[resample, variant] == pytest.approx(
                float(score(metric, outputs[variant, index], targets[index])), abs=1e-9
            )


def test_resamples_without_examples_are_left_out():
    draws = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert resampled("accuracy", np.eye(2), np.array([0.0, 1.0]), draws).tolist() == [1.0]


def test_lower_is_better_names_metrics():
    assert LOWER_IS_BETTER < set(METRICS)
