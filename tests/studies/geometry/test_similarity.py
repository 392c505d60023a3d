"""Each number as loops over its definition find it, and closed forms."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from headscope.studies.layers.geometry.mean_cosine import mean_cosine, mean_cosine_between, mean_cosine_score
from headscope.studies.layers.geometry.samples import Occurrences, keys
from headscope.studies.layers.geometry.similarity import (
    GAPS,
    alignments,
    centred,
    explained,
    outliers,
    resampled_cosine,
    self_similarity_score,
    shared,
    token_groups,
    token_scores,
)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def made(tokens: list[int], spaces: int = 2, width: int = 5, seed: int = 0) -> tuple[Occurrences, np.ndarray]:
    """Occurrences at random positions, and their vectors."""
    random = np.random.default_rng(seed)
    number = len(tokens)
    vectors = random.normal(size=(number, spaces, width)) + 1
    index = np.arange(number)
    rows = Occurrences(
        keys(seed, index, index),
        index,
        index,
        random.integers(0, 30, number),
        random.integers(0, 2, number),
        random.random(number) < 0.8,
        np.array(tokens),
        unit(vectors).astype(np.float32),
        np.linalg.norm(vectors, axis=-1).astype(np.float32),
    )
    return rows, vectors


def test_its_resamples_are_those_of_pairs_of_different_documents() -> None:
    random = np.random.default_rng(1)
    vectors, documents = unit(random.normal(size=(9, 3)) + 1), np.array([0, 0, 0, 1, 1, 2, 2, 3, 3])
    draws = random.poisson(1, (25, 4))
    found = mean_cosine_score([vectors.astype(np.float32)], documents, draws)
    for draw, resampled in zip(draws, found.resampled[:, 0], strict=True):
        expected = between(vectors, documents, draw)
        assert resampled == pytest.approx(expected, abs=1e-5, nan_ok=True)
    assert found.mean == pytest.approx(between(vectors, documents, np.ones(4)), abs=1e-6) and found.count == 9
    assert mean_cosine_between(vectors, documents) == pytest.approx(float(found.mean[0]), abs=1e-6)


def between(vectors: np.ndarray, documents: np.ndarray, drawn: np.ndarray) -> float:
    """The mean cosine over pairs of tokens of different documents, in a loop."""
    pairs = [
        (drawn[documents[one]] * drawn[documents[other]], cosine(vectors[one], vectors[other]))
        for one, other in combinations(range(len(vectors)), 2)
        if documents[one] != documents[other]
    ]
    number = sum(weight for weight, _ in pairs)
    return float(sum(weight * value for weight, value in pairs) / number) if number else np.nan


def test_its_interval_lies_evenly_about_it_however_skewed_its_resamples_are() -> None:
    """One document is apart: percentiles of the resamples would lie higher than the value."""
    random = np.random.default_rng(4)
    vectors = unit(random.normal(size=(24, 3)) + np.repeat([[3.0, 0, 0], [0, 0, 0]], 12, axis=0)).astype(np.float32)
    score = mean_cosine_score([vectors], np.arange(24) // 2, random.poisson(1, (400, 12)).astype(float))
    ((lower, upper),), (mean,) = score.interval, score.mean
    assert mean - lower == pytest.approx(upper - mean)
    low, high = np.quantile(score.resampled[:, 0], [0.025, 0.975])
    assert lower < low and high - mean > mean - low


def test_of_tokens_that_are_alike_within_their_documents_only_the_others_count() -> None:
    documents = np.repeat(np.arange(4), 5)
    vectors = np.eye(4)[documents]
    score = mean_cosine_score([vectors.astype(np.float32)], documents, np.random.default_rng(0).poisson(1, (50, 4)))
    np.testing.assert_allclose(score.resampled[~np.isnan(score.resampled)], 0, atol=1e-6)
    assert score.mean == 0 and mean_cosine(vectors) > 0.2


def test_of_a_single_document_all_pairs_count_without_an_interval() -> None:
    vectors = unit(np.random.default_rng(2).normal(size=(6, 3)) + 1)
    score = mean_cosine_score([vectors.astype(np.float32)], np.zeros(6, int), np.array([[1], [2], [0]]))
    assert score.mean == pytest.approx(mean_cosine(vectors)) and np.isnan(score.resampled).all()


def test_resamples_of_a_token_are_those_of_its_pairs() -> None:
    """Pairs of two documents count as often as both are drawn together, pairs of one as often as that is drawn."""
    rows, vectors = made([7] * 8)
    rows = replace(rows, document=np.array([0, 0, 0, 1, 1, 2, 3, 3]))
    draws = np.random.default_rng(2).poisson(1, (20, 4)).astype(float)
    found = resampled_cosine(rows, np.arange(8), draws[:, rows.document])
    for draw, values in zip(draws, found, strict=True):
        for space in range(2):
            total = number = 0.0
            for one, other in combinations(range(8), 2):
                first, second = rows.document[[one, other]]
                times = draw[first] if first == second else draw[first] * draw[second]
                total, number = total + times * cosine(vectors[one, space], vectors[other, space]), number + times
            assert values[space] == pytest.approx(total / number if number else np.nan, abs=1e-5, nan_ok=True)


def test_self_similarity_is_resampled_over_documents() -> None:
    rows, _ = made([7] * 9 + [3] * 6 + [1] * 4)
    groups, values = token_groups(rows.token), token_scores(rows, rows, seed=0).self_similarity
    score = self_similarity_score(rows, groups, values, 0, 200)
    assert score.count == len(groups) == 2 and np.isfinite(score.interval).all()
    assert (score.interval[:, 0] < score.mean).all() and (score.mean < score.interval[:, 1]).all()
    one = replace(rows, document=np.zeros(len(rows), dtype=int))
    assert np.isnan(self_similarity_score(one, groups, values, 0, 200).interval).all()


def test_no_cosine_of_vectors_kept_in_half_precision_is_above_one() -> None:
    rows, _ = made([7] * 6 + [3] * 6, spaces=1, width=7)
    same = replace(rows, unit=np.repeat(rows.unit[:1], len(rows), 0).astype(np.float16))
    assert np.linalg.norm(same.unit[0].astype(np.float64)) != pytest.approx(1, abs=1e-5)
    scores = token_scores(same, same, seed=0)
    np.testing.assert_allclose(scores.self_similarity, 1, atol=1e-6)
    np.testing.assert_allclose(scores.gaps.sum(-1)[:, 0] / scores.gap_pairs.sum(-1), 1, atol=1e-6)
    assert mean_cosine(same.units(0)) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(mean_cosine_score([same.units(0)], same.input, np.ones((3, 12))).resampled, 1, atol=1e-6)


def test_scores_of_tokens_are_those_of_loops_over_their_occurrences() -> None:
    tokens = [7] * 9 + [3] * 6 + [1] * 4
    rows, vectors = made(tokens)
    random, _ = made(list(range(30)), seed=1)
    scores = token_scores(rows, random, seed=0)
    for number, token in enumerate((3, 7)):
        own = [index for index, other in enumerate(tokens) if other == token]
        pairs = list(combinations(own, 2))
        for space in range(2):
            cosines = {pair: cosine(*(vectors[index, space] for index in pair)) for pair in pairs}
            assert scores.self_similarity[number, space] == pytest.approx(np.mean(list(cosines.values())), abs=1e-5)
            singular = np.linalg.svd(vectors[own, space], compute_uv=False)
            assert scores.explained[number, space] == pytest.approx(singular[0] ** 2 / (singular**2).sum(), abs=1e-5)
            for gap, (least, most) in enumerate(GAPS.values()):
                among = [p for p in pairs if least <= abs(int(rows.position[p[0]]) - int(rows.position[p[1]])) <= most]
                assert scores.gap_pairs[number, gap] == len(among)
                expected = sum(cosines[pair] for pair in among)
                assert scores.gaps[number, space, gap] == pytest.approx(expected, abs=1e-5)
            for index, same in enumerate((True, False)):
                among = [
                    p for p in pairs
                    if rows.paired[list(p)].all() and (rows.segment[p[0]] == rows.segment[p[1]]) == same
                ]  # fmt: skip
                assert scores.segment_pairs[number, index] == len(among)
                expected = sum(cosines[pair] for pair in among)
                assert scores.segments[number, space, index] == pytest.approx(expected, abs=1e-5)
    assert len(scores.self_similarity) == 2  # the third token has too few occurrences


def test_occurrences_that_are_all_the_same_are_explained_by_one_vector() -> None:
    rows, _ = made([5] * 8)
    same = Occurrences(**(vars(rows) | {"unit": np.repeat(rows.unit[:1], 8, axis=0), "norm": rows.norm * 0 + 3}))
    scores = token_scores(same, rows, seed=0)
    np.testing.assert_allclose(scores.self_similarity, 1, atol=1e-6)
    np.testing.assert_allclose(scores.explained, 1, atol=1e-6)
    assert explained(np.eye(4), np.ones(4)) == pytest.approx(0.25)


def test_without_the_mean_vectors_of_a_cone_lie_in_all_directions() -> None:
    random = np.random.default_rng(0)
    cone = random.normal(size=(400, 8)) + 20 * np.eye(8)[0]
    assert mean_cosine(unit(cone)) > 0.9 and shared(cone) > 0.9
    assert abs(mean_cosine(centred(cone))) < 0.01 and shared(cone - cone.mean(0)) == pytest.approx(0, abs=1e-9)


def test_an_outlier_is_three_standard_deviations_from_the_mean() -> None:
    # One dimension of n stands out by the root of n - 1 standard deviations.
    assert outliers(np.eye(1, 10)) == 0 and outliers(np.eye(1, 11)) == 1


def gram_alignment(one: np.ndarray, other: np.ndarray) -> float:
    """The definition, with matrices of rows by rows: HSIC of two linear kernels, divided by those of each."""
    number = len(one)
    centring = np.eye(number) - 1 / number

    def hsic(first: np.ndarray, second: np.ndarray) -> float:
        return float(np.trace(first @ first.T @ centring @ second @ second.T @ centring)) / (number - 1) ** 2

    return hsic(one, other) / np.sqrt(hsic(one, one) * hsic(other, other))


def test_alignment_is_that_of_the_definition() -> None:
    random = np.random.default_rng(0)
    ones = [random.normal(size=(20, 5)), random.normal(size=(20, 3)) * 100 + 7]
    others = [ones[0] @ random.normal(size=(5, 4)), random.normal(size=(20, 6))]
    expected = [[gram_alignment(one, other) for other in others] for one in ones]
    np.testing.assert_allclose(alignments(ones, others), expected, atol=1e-5)


def test_alignment_ignores_rotation_and_scale_but_not_more() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(60, 6))
    rotation, _ = np.linalg.qr(random.normal(size=(6, 6)))
    assert alignments([vectors], [5 * vectors @ rotation + 2])[0, 0] == pytest.approx(1, abs=1e-5)
    assert alignments([vectors], [random.normal(size=(60, 6))])[0, 0] < 0.5
    assert np.isnan(alignments([np.ones((4, 2))], [vectors[:4]])[0, 0])
