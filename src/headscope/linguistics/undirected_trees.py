"""Best undirected trees of many graphs at once (Prim 1957)."""

import numpy as np
from jaxtyping import Float, Int


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
