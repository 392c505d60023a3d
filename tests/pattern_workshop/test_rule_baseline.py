"""The rule baseline: its three numbers in closed form, and thresholds that part what can be parted."""

import numpy as np
import pytest

from headscope.results.vocabulary import PATTERNS
from headscope.studies.heads.patterns.labelled_maps import Map
from pattern_workshop.scorecard import fitted, numbers, predict
from support.planted_maps import planted_maps

pytestmark = pytest.mark.thorough


def map_of(attention: np.ndarray, pattern: str = "") -> Map:
    return Map(0, attention, ("[CLS]", *["a"] * (len(attention) - 2), "[SEP]"), pattern)


def test_the_numbers_are_those_of_the_definition() -> None:
    column, identity = np.zeros((6, 6)), np.eye(6)
    column[:, 2] = 1
    # One query in a column finds itself there.
    np.testing.assert_allclose(numbers([map_of(column)]), [[1, 1 / 5, 1 / 6]])
    np.testing.assert_allclose(numbers([map_of(identity)]), [[1 / 6, 1, 1 / 6]])
    before = np.eye(6, k=-1) + np.eye(6)[0, :, None] * np.eye(6)[0]
    assert numbers([map_of(before)])[0, 1] == pytest.approx(1)


def test_squares_that_follow_the_segments_are_even() -> None:
    tokens = ("[CLS]", "a", "[SEP]", "b", "c", "[SEP]")
    square = np.kron(np.eye(2), np.full((3, 3), 1 / 3))
    assert numbers([Map(0, square, tokens)])[0, 2] == pytest.approx(1)
    assert numbers([Map(0, square, ("a",) * 6)])[0, 2] == pytest.approx(0.5)


def test_planted_columns_and_diagonals_are_predict() -> None:
    maps = [(map_of(one), pattern) for pattern in PATTERNS for length, one in planted_maps(pattern) if length > 20]
    known, labels = numbers([one for one, _ in maps]), np.array([PATTERNS.index(pattern) for _, pattern in maps])
    right = predict(known, fitted(known, labels)) == labels
    assert right.mean() > 0.7
    assert right[labels == PATTERNS.index("vertical_diagonal")].mean() > 0.7
