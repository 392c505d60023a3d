"""Agreement of similarities: closed forms, and a naive reference."""

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from headscope.studies.size.shrink.scores import change, nearest, of_similarities, pairs, recall

RANDOM = np.random.default_rng(0)


def unit(values: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def test_agreement_is_spearmans_over_all_pairs() -> None:
    before = unit(RANDOM.normal(size=(30, 5)))
    after = unit(before + 0.3 * RANDOM.normal(size=before.shape))
    found = of_similarities([before, after], range(30), 0, 200)
    upper = np.triu_indices(30, 1)
    correlation: Any = spearmanr((before @ before.T)[upper], (after @ after.T)[upper])
    expected = float(correlation.statistic)
    np.testing.assert_allclose(found.values[:, 0], [1, expected], atol=1e-6)
    lower, higher = found.bounds[1, 0]
    assert lower < expected < higher and np.allclose(found.bounds[0], 1)
    naive = [
        len({*np.argsort(-(before @ row))[1:11]} & {*np.argsort(-(after @ other))[1:11]}) / 10
        for row, other in zip(before, after, strict=True)
    ]
    np.testing.assert_allclose(found.values[:, 1], [1, float(np.mean(naive))], atol=1e-6)


def test_a_rotation_changes_no_similarity_and_noise_has_none() -> None:
    before = unit(RANDOM.normal(size=(60, 4)))
    turned = before @ np.linalg.qr(RANDOM.normal(size=(4, 4)))[0]
    noise = unit(RANDOM.normal(size=(60, 4)))
    found = of_similarities([before, turned, noise], range(60), 0, 100)
    np.testing.assert_allclose(found.values[1], 1, atol=1e-6)
    assert abs(found.values[2, 0]) < 0.15 and found.bounds[2, 0, 0] < 0 < found.bounds[2, 0, 1]


def test_too_few_texts_have_no_interval_and_no_nearest() -> None:
    found = of_similarities([np.eye(2), np.eye(2)], range(2), 0, 20)
    assert np.isnan(found.bounds).all() and np.isnan(found.values[:, 1]).all()
    assert nearest(np.eye(20)) is None
    assert recall(np.array([[1, 2], [3, 4]]), np.array([[2, 1], [5, 6]])).tolist() == [1, 0]


def test_pairs_are_drawn_by_the_seed_once_there_are_many() -> None:
    one, other = pairs(300, 1)
    assert (
        len(one) == 20_000 and (one < other).all() and len({*zip(one.tolist(), other.tolist(), strict=True)}) == 20_000
    )


def test_change_is_0_for_equal_outputs_and_1_for_their_mean() -> None:
    outputs = RANDOM.normal(size=(20, 3))
    assert change(outputs, outputs) == 0
    np.testing.assert_allclose(change(outputs, np.tile(outputs.mean(0), (20, 1))), 1)
    assert change(np.ones((3, 2)), np.ones((3, 2))) == 0 and change(np.ones((3, 2)), np.zeros((3, 2))) == 1
