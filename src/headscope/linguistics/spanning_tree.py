"""The tree with the largest sum of scores and one root, of one graph or of many at once; undirected trees.

Many directed graphs (Chu and Liu 1965; Edmonds 1967) go through the algorithm of Gabow, Galil, Spencer and Tarjan
(1986) in step: a path grows along the best edges, and each cycle on it becomes one set of nodes. The nested sets do not
depend on the root, so that one contraction gives the best tree from any root, and the root whose tree is best. `tree`
has one graph and a ROOT.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

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
    """The tree with the largest sum of scores of each graph: each node's neighbour on the way to node 0; node 0 has -1.

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


NONE = -1


@dataclass
class Contraction:
    """The nested sets of nodes of many graphs; sets are numbered from the nodes up, a set after its parts.

    * `scores`: of each node as the head of each node.
    * `parent`: of each set, `NONE` for the set of all nodes and for numbers that are not used.
    * `dependent`, `head`, `cost`: nodes and reduced score of the best edge that enters each set.
    * `first`, `last`: the part of `position` that each set covers; `position`: that of each node on the path.
    """

    scores: Float[np.ndarray, "graph node node"]
    parent: Int[np.ndarray, "graph set"] = field(init=False)
    dependent: Int[np.ndarray, "graph set"] = field(init=False)
    head: Int[np.ndarray, "graph set"] = field(init=False)
    cost: Float[np.ndarray, "graph set"] = field(init=False)
    first: Int[np.ndarray, "graph set"] = field(init=False)
    last: Int[np.ndarray, "graph set"] = field(init=False)
    position: Int[np.ndarray, "graph node"] = field(init=False)

    def __post_init__(self) -> None:
        graphs, nodes = self.scores.shape[:2]
        self.parent, self.dependent, self.head, self.first, self.last = (
            np.full((graphs, 2 * nodes - 1), NONE, dtype=np.int32) for _ in range(5)
        )
        self.cost, self.position = np.zeros((graphs, 2 * nodes - 1)), np.full((graphs, nodes), NONE, dtype=np.int32)
        path = _Path(self)
        active = np.arange(graphs) if nodes > 1 else np.empty(0, dtype=int)
        while len(active):
            closing = path.target[active] != NONE
            path.merge(active[closing])
            path.extend(active[~closing])
            done = (path.seen[active] == nodes) & (path.depth[active] == 0) & (path.target[active] == NONE)
            active = active[~done]

    def heads(self, roots: Int[np.ndarray, "*tree graph"]) -> Int[np.ndarray, "*tree graph node"]:
        """The heads of all nodes in the best tree from each root, `NONE` for the root itself."""
        nodes = self.position.shape[1]
        heads = np.full((*roots.shape, nodes), NONE, dtype=np.int32)
        entered = np.repeat(roots[..., None], 2 * nodes - 1, axis=-1)  # the node by which the tree enters each set
        for number in range(2 * nodes - 2, -1, -1):
            graph = np.flatnonzero(self.parent[:, number] != NONE)
            passed = entered[..., graph, self.parent[graph, number]]
            position, dependent = self.position[graph, passed], self.dependent[graph, number]
            within = (self.first[graph, number] <= position) & (position <= self.last[graph, number])
            entered[..., graph, number] = np.where(within, passed, dependent)
            *tree, cut = np.nonzero(~within)
            heads[*tree, graph[cut], dependent[cut]] = self.head[graph[cut], number]
        return heads

    def best_root(self) -> Int[np.ndarray, " graph"]:
        """The root whose best tree has the largest sum of scores; ties: the first.

        That sum is the cost of all sets without those that contain the root, which no edge enters.
        """
        lost = self.cost.copy()
        for number in range(self.cost.shape[1] - 1, -1, -1):
            graph = np.flatnonzero(self.parent[:, number] != NONE)
            lost[graph, number] += lost[graph, self.parent[graph, number]]
        return lost[:, : self.position.shape[1]].argmin(1)


class _Path:
    """The sets on the growing path of each graph, the outermost last, with the edges that enter them.

    * `rows`: reduced score of each node as the head of a set on the path; `ends`: the dependent of that edge. The
      paths of all graphs stand below each other: rows of one axis are taken several times faster than of two.
    * `start`: position of a set's first node; `name`: number of the set; `depth`: index of the last set on the path.
    * `target`: the position to which a cycle closes, `NONE` while there is none; `seen`: number of nodes on the path.
    """

    def __init__(self, contraction: Contraction):
        graphs, self.nodes = contraction.position.shape
        self.of, self.free = contraction, np.full(graphs, self.nodes)
        self.scores = contraction.scores.reshape(-1, self.nodes)  # [graph and dependent, head]
        self.rows, self.ends = np.empty_like(self.scores), np.empty(self.scores.shape, dtype=np.int16)
        self.start, self.name = np.zeros((2, graphs * self.nodes), dtype=int)
        self.depth, self.seen, self.target = np.full(graphs, NONE), np.zeros(graphs, dtype=int), np.full(graphs, NONE)
        self._push(np.arange(graphs), np.zeros(graphs, dtype=int))

    def _push(self, graph: np.ndarray, node: np.ndarray) -> None:
        self.depth[graph] += 1
        at, position = graph * self.nodes + self.depth[graph], self.seen[graph]
        self.rows[at] = self.scores.take(graph * self.nodes + node, axis=0)
        self.ends[at] = node[:, None]
        self.start[at], self.name[at] = position, node
        self.of.position[graph, node] = self.of.first[graph, node] = self.of.last[graph, node] = position
        self.seen[graph] += 1

    def extend(self, graph: np.ndarray) -> None:
        """Take the best edge into the last set: its head joins the path, or closes a cycle."""
        at, number = graph * self.nodes + self.depth[graph], np.arange(len(graph))
        positions = self.of.position.take(graph, axis=0)
        row = np.where(positions >= self.start[at, None], -np.inf, self.rows.take(at, axis=0))
        head = row.argmax(1)
        best, name = row[number, head], self.name[at]
        self.of.head[graph, name], self.of.cost[graph, name] = head, best
        self.of.dependent[graph, name] = self.ends[at, head]
        self.rows[at] = row - best[:, None]
        self.target[graph] = position = positions[number, head]
        is_new = position == NONE
        self._push(graph[is_new], head[is_new])

    def merge(self, graph: np.ndarray) -> None:
        """Merge the last two sets of a cycle; once the cycle is closed they are one new set."""
        at = graph * self.nodes + self.depth[graph]
        new, old = self.rows.take(at, axis=0), self.rows.take(at - 1, axis=0)
        self.rows[at - 1] = np.maximum(new, old)
        self.ends[at - 1] = np.where(new > old, self.ends.take(at, axis=0), self.ends.take(at - 1, axis=0))
        self.of.parent[graph, self.name[at]] = self.free[graph]
        self.depth[graph] -= 1
        is_closed = self.start[at - 1] <= self.target[graph]
        closed, at = graph[is_closed], at[is_closed] - 1
        name = self.free[closed]
        self.of.parent[closed, self.name[at]] = name
        self.name[at] = name
        self.of.first[closed, name], self.of.last[closed, name] = self.start[at], self.seen[closed] - 1
        self.free[closed] += 1
        self.target[closed] = NONE
