"""Points and groups of things whose places are known."""

import numpy as np
import pytest

from headscope.studies.heads.clusters.head_distances import MOST_CLUSTERS, agreement, groups, positions


def distances(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points, axis=-1)


def test_points_of_a_plane_are_found_but_for_how_they_lie() -> None:
    points = np.random.default_rng(0).normal(size=(20, 2))
    found, stress = positions(distances(points))
    np.testing.assert_allclose(distances(found), distances(points), atol=1e-3)
    assert stress < 1e-3


def test_the_first_axis_is_the_longest_and_the_outermost_points_are_positive() -> None:
    found, _ = positions(distances(np.random.default_rng(1).normal(size=(15, 5))), seed=3)
    assert found[:, 0].std() > found[:, 1].std()
    assert (found.max(0) == np.abs(found).max(0)).all() and abs(np.cov(found.T)[0, 1]) < 1e-9


def test_the_seed_alone_decides_and_stress_is_that_of_the_points() -> None:
    wanted = distances(np.random.default_rng(2).normal(size=(12, 6)))
    found, stress = positions(wanted, seed=1)
    np.testing.assert_array_equal(positions(wanted, seed=1)[0], found)
    placed = distances(found)
    assert stress == pytest.approx(np.sqrt(np.square(placed - wanted).sum() / np.square(placed).sum()), rel=1e-3)
    assert 0.1 < stress < 0.6


def test_things_that_are_all_alike_lie_on_one_point() -> None:
    points, stress = positions(np.zeros((4, 4)))
    assert not points.any() and stress == 0
    assert groups(np.zeros((4, 4))).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("number", [2, 3, 5])
def test_groups_that_lie_apart_are_found_with_their_number(number: int) -> None:
    random = np.random.default_rng(number)
    centres = random.permutation(number * 4) % number
    points = np.c_[10 * centres, np.zeros(len(centres))] + random.normal(scale=0.2, size=(len(centres), 2))
    found = groups(distances(points))
    assert found.max() == number and agreement(found, centres) == 1
    first = [int(np.flatnonzero(found == cluster)[0]) for cluster in range(1, number + 1)]
    assert first == sorted(first)


def test_a_number_of_groups_that_is_asked_for_is_given() -> None:
    wanted = distances(np.random.default_rng(4).normal(size=(9, 2)))
    assert [groups(wanted, number).max() for number in (1, 4, 9)] == [1, 4, 9]
    assert 2 <= groups(wanted).max() <= MOST_CLUSTERS


def test_one_odd_point_is_not_all_that_is_told() -> None:
    points = np.array([[0.0, 0], [0, 1], [4, 0], [4, 1], [2, 9], [2, 10], [90, 0]])
    assert groups(distances(points), 2).tolist() == [1] * 6 + [2]
    assert groups(distances(points)).tolist() == [1, 1, 2, 2, 3, 3, 4]


@pytest.mark.parametrize("heads", [1, 2])
def test_very_few_are_one_group(heads: int) -> None:
    assert groups(1.0 - np.eye(heads)).tolist() == [1] * heads


def test_agreement_of_unrelated_groups_is_about_0() -> None:
    random = np.random.default_rng(5)
    assert abs(np.mean([agreement(*random.integers(0, 3, (2, 60))) for _ in range(50)])) < 0.05
