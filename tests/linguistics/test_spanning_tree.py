"""The best tree is that of networkx; and trees that need no model."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headscope.linguistics.spanning_tree import cycle, tree
from headscope.studies.heads.probe.experiments import at_offset, best_offset
from support.parsed_maps import sentence


def best_of_networkx(scores: np.ndarray) -> float:
    """The largest sum of a tree with one root: each word in turn is the root."""
    words, found = len(scores), []
    for root in range(words):
        graph = nx.DiGraph()
        graph.add_nodes_from(range(words))
        graph.add_weighted_edges_from(
            (head, word, scores[word, head + 1])
            for word in range(words)
            for head in range(words)
            if word not in (head, root)
        )
        edges = nx.maximum_spanning_arborescence(graph).edges(data=True) if words > 1 else []
        found.append(scores[root, 0] + sum(data["weight"] for *_, data in edges))
    return max(found)


sizes = st.integers(1, 6)
some_scores = sizes.flatmap(
    lambda words: arrays(np.float64, (words, words + 1), elements=st.integers(-4, 4).map(float) | st.floats(-9, 9))
)


@settings(max_examples=60, deadline=None)
@given(some_scores)
def test_the_tree_is_the_best_of_those_with_one_root(scores: np.ndarray) -> None:
    heads = tree(scores)
    assert (heads == 0).sum() == 1 and not cycle(heads.tolist())
    total = sum(scores[word, head] for word, head in enumerate(heads))
    assert total == pytest.approx(best_of_networkx(scores), abs=1e-9)


def test_large_trees_with_nested_cycles_are_trees() -> None:
    random = np.random.default_rng(0)
    for words in (30, 120):
        scores = (
            random.normal(size=(words, words + 1)) + 5 * np.eye(words, words + 1, k=2) + 5 * np.eye(words, words + 1)
        )
        heads = tree(scores)
        assert (heads == 0).sum() == 1 and not cycle(heads.tolist())


def test_what_is_no_candidate_is_never_taken() -> None:
    scores = np.array([[1.0, -np.inf, 9.0], [0.0, 9.0, -np.inf]])
    assert tree(scores).tolist() == [0, 1]
    assert tree(np.array([[-3.0, 7.0]])).tolist() == [0]


def test_baselines() -> None:
    assert at_offset(3, 1).tolist() == [2, 3, 0] and at_offset(1, 1).tolist() == [0]
    assert at_offset(4, -1).tolist() == [0, 1, 2, 3]
    sentences = [sentence((2, 0, 2)), sentence((0, 1, 2, 3), ["root", "a", "punct", "punct"])]
    assert best_offset(sentences) == -1  # two heads are before their word, and one is after it
    assert best_offset([sentence((2, 0, 2))]) == -1  # of equals the one to the left
    assert best_offset([sentence((0,))]) == 1
