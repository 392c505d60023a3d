"""The best trees of many graphs are those of networkx, one by one, from each root."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headscope.linguistics.spanning_tree import NONE, Contraction, tree, undirected_trees

sizes = st.tuples(st.integers(1, 3), st.integers(1, 6))
several = sizes.flatmap(
    lambda size: arrays(
        np.float64, (size[0], size[1], size[1]), elements=st.integers(-4, 4).map(float) | st.floats(-9, 9)
    )
)


def total(scores: np.ndarray, heads: np.ndarray) -> float:
    return sum(scores[word, head] for word, head in enumerate(heads) if head != NONE)


def best_of_networkx(scores: np.ndarray, root: int) -> float:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(scores)))
    pairs = [(word, head) for word in range(len(scores)) for head in range(len(scores)) if word not in (head, root)]
    graph.add_weighted_edges_from((head, word, scores[word, head]) for word, head in pairs)
    edges = nx.maximum_spanning_arborescence(graph).edges(data=True) if pairs else []
    return sum(data["weight"] for *_, data in edges)


def is_tree(heads: np.ndarray, root: int) -> bool:
    for word in range(len(heads)):
        steps = 0
        while word != root and steps <= len(heads):
            word, steps = heads[word], steps + 1
        if word != root:
            return False
    return heads[root] == NONE and (heads != NONE).sum() == len(heads) - 1


@settings(max_examples=80, deadline=None)
@given(several)
def test_from_each_root_the_tree_is_the_best(scores: np.ndarray) -> None:
    contraction, words = Contraction(scores.copy()), scores.shape[1]
    totals = np.empty((len(scores), words))
    for root in range(words):
        for number, heads in enumerate(contraction.heads(np.full(len(scores), root))):
            assert is_tree(heads, root)
            totals[number, root] = total(scores[number], heads)
            assert totals[number, root] == pytest.approx(best_of_networkx(scores[number], root), abs=1e-9)
    best = contraction.best_root()
    np.testing.assert_allclose(totals[np.arange(len(scores)), best], totals.max(1), atol=1e-9)


def test_large_graphs_have_the_trees_of_the_other_algorithm() -> None:
    random = np.random.default_rng(0)
    for words in (2, 30, 90):
        chain = 5 * np.eye(words, k=1) + 5 * np.eye(words, k=-1)
        scores = random.normal(size=(4, words, words)) + chain * np.array([0, 1, 0, 1])[:, None, None]
        best = Contraction(scores).best_root()
        for score, root, heads in zip(scores, best, Contraction(scores).heads(best), strict=True):
            other = tree(np.concatenate([np.zeros((words, 1)), score], axis=1)) - 1
            assert heads.tolist() == other.tolist() and is_tree(heads, root)


def test_a_graph_alone_has_the_tree_it_has_among_others() -> None:
    scores = np.random.default_rng(1).dirichlet(np.full(9, 0.3), size=(20, 9))
    together = Contraction(scores).heads(np.arange(20) % 9)
    for number in range(20):
        alone = Contraction(scores[number : number + 1]).heads(np.array([number % 9]))
        assert alone[0].tolist() == together[number].tolist()


@settings(max_examples=80, deadline=None)
@given(several)
def test_the_undirected_tree_is_the_best(scores: np.ndarray) -> None:
    symmetric = scores + scores.swapaxes(1, 2)
    for weights, neighbours in zip(symmetric, undirected_trees(symmetric), strict=True):
        graph = nx.from_numpy_array(np.where(np.eye(len(weights)), 0, weights + 100))
        edges = nx.maximum_spanning_tree(graph).edges(data=True)
        assert is_tree(neighbours, 0)
        expected = sum(data["weight"] - 100 for *_, data in edges)
        assert total(weights, neighbours) == pytest.approx(expected, abs=1e-6)
