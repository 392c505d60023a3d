"""From scores to a tree: of all trees with one root that of the largest sum, and the best undirected trees."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

Heads = Int[np.ndarray, " word"]


def tree(scores: Float[np.ndarray, "word candidate"]) -> Heads:
    """The heads of the words, 0 for ROOT, in the best tree in which ROOT is the head of one word.

    * `scores`: of ROOT, then of each word, as the head of each word; a word as its own head is never taken.

    >>> tree(np.array([[3.0, 0, 2], [0, 9, 0]]))  # each word by itself: ROOT, and the first word
    array([0, 1])
    >>> tree(np.array([[3.0, 0, 2], [4, 2, 0]]))  # ROOT twice is no tree
    array([2, 0])
    """
    words = len(scores)
    square = np.full((words + 1, words + 1), -np.inf)
    square[1:] = scores
    np.fill_diagonal(square, -np.inf)
    best = _best(square)[1:]
    if (best == 0).sum() == 1:
        return best
    finite = square[np.isfinite(square)]
    # A second word under ROOT then costs more than any choice of the other heads can win.
    square[1:, 0] -= 1 + words * (finite.max(initial=0) - finite.min(initial=0))
    return _best(square)[1:]


def best_heads(scores: Float[np.ndarray, "word candidate"]) -> Heads:
    """The best head of each word by itself, tree or not, as in the released code of Clark et al. 2019."""
    return scores.argmax(1)


def _best(scores: Float[np.ndarray, "node node"]) -> Int[np.ndarray, " node"]:
    """The heads of all nodes in the best tree from node 0: a cycle of best heads is made one node, and opened again."""
    heads = scores.argmax(1)
    heads[0] = 0
    if not (word := cycle(heads[1:].tolist())):
        return heads
    inside = np.zeros(len(heads), dtype=bool)
    while not inside[word]:
        inside[word], word = True, heads[word]
    within, outside = np.flatnonzero(inside), np.flatnonzero(~inside)
    # What it costs to take a head outside for a word of the cycle, instead of its own.
    entering = scores[within[:, None], outside] - scores[within, heads[within], None]
    leaving = scores[outside[:, None], within]
    smaller = np.full((len(outside) + 1, len(outside) + 1), -np.inf)
    smaller[:-1, :-1] = scores[outside[:, None], outside]
    smaller[-1, :-1], smaller[:-1, -1] = entering.max(0), leaving.max(1)
    contracted = _best(smaller)
    under_cycle = contracted[:-1] == len(outside)
    heads[outside] = np.where(
        under_cycle, within[leaving.argmax(1)], outside[np.where(under_cycle, 0, contracted[:-1])]
    )
    heads[within[entering[:, contracted[-1]].argmax()]] = outside[contracted[-1]]
    return heads


def cycle(tree: Sequence[int]) -> int:
    """A word that is its own ancestor, from 1; 0 if there is none.

    >>> cycle((2, 0, 2)), cycle((0, 3, 2))
    (0, 2)
    """
    rooted = {0}
    for word in range(1, len(tree) + 1):
        path: set[int] = set()
        while word not in rooted:
            if word in path:
                return word
            path.add(word)
            word = tree[word - 1]
        rooted |= path
    return 0


def undirected_trees(scores: Float[np.ndarray, "graph node node"]) -> Int[np.ndarray, "graph node"]:
    """The tree with the largest sum of scores of each graph: each node's neighbour on the way to node 0, -1 for that.

    * `scores`: of each pair of nodes, symmetric; the diagonal is never taken.

    >>> undirected_trees(np.array([[[0, 1, 3], [1, 0, 2], [3, 2, 0]]], dtype=float)).tolist()
    [[-1, 2, 0]]
    """
    graphs, nodes = scores.shape[:2]
    number = np.arange(graphs)
    neighbour = np.zeros((graphs, nodes), dtype=np.int32)
    neighbour[:, 0] = -1
    best, inside = scores[:, 0].copy(), np.zeros((graphs, nodes), dtype=bool)
    added = np.zeros(graphs, dtype=int)
    for _ in range(nodes - 1):
        inside[number, added] = True
        added = np.where(inside, -np.inf, best).argmax(1)
        row = scores[number, added]
        closer = ~inside & (row > best)
        closer[number, added] = False
        best, neighbour = np.where(closer, row, best), np.where(closer, added[:, None], neighbour)
    return neighbour
