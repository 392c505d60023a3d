"""set[tuple[int, int]] of distances are those of a recursion, and their F1 that of sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.studies.heads.trees.parses import branching, f1, gold_table, right_biased, spans
from support.planted_trees import recursive

numbers = st.lists(st.integers(0, 4).map(float) | st.floats(0, 1), min_size=1, max_size=8)


@given(numbers)
def test_phrases_are_those_of_the_recursion(distances: list[float]) -> None:
    found = spans(np.array([distances]))[0]
    assert {(start, end) for start, end in found.tolist()} == recursive(distances)
    assert len(found) == len(recursive(distances))


@given(numbers, st.sets(st.tuples(st.integers(0, 8), st.integers(0, 9)), min_size=1))
def test_f1_is_that_of_sets_without_words_and_the_whole(distances: list[float], gold: set[tuple[int, int]]) -> None:
    words = len(distances) + 1
    kept = {(start, end) for start, end in gold if end <= words and 1 < end - start < words}
    table = gold_table(tuple(span for span in gold if span[0] < span[1] <= words), words)
    assert table.sum() == len(kept)
    if kept:
        found = recursive(distances) - {(0, words)}
        right = len(found & kept)
        expected = 2 * right / (len(found) + len(kept))
        assert f1(spans(np.array([distances])), table)[0] == pytest.approx(expected)


def test_trees_without_a_model() -> None:
    trees = {name: {tuple(span) for span in spans(tree[None])[0].tolist()} for name, tree in branching(4).items()}
    assert trees["right_branching"] == {(0, 4), (1, 4), (2, 4)}
    assert trees["left_branching"] == {(0, 4), (0, 3), (0, 2)}
    assert trees["balanced"] == {(0, 4), (0, 2), (2, 4)}
    assert {name: tree.shape for name, tree in branching(1).items()} == dict.fromkeys(trees, (0,))


def test_a_bias_falls_from_the_first_gap_to_the_last() -> None:
    distances = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(right_biased(distances, 1.5), [[1 + 3, 2 + 1.5, 3]])
    assert right_biased(distances, 0) is distances
    assert right_biased(distances[:, :1], 1.5).tolist() == [[1.0]]
