"""Heads as points and as groups, from their divergences: multidimensional scaling and agglomerative clusters."""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from sklearn import config_context
from sklearn.cluster import AgglomerativeClustering
from sklearn.manifold import smacof
from sklearn.metrics import adjusted_rand_score, silhouette_score

Distances = Float[np.ndarray, "point point"]
Groups = Int[np.ndarray, " point"]
# As in Clark et al.'s code: starts, iterations, and when to stop.
STARTS, ITERATIONS, CLOSE = 5, 1000, 1e-10
AXES = 2
# Largest number of groups that is tried.
MOST_CLUSTERS = 12


def positions(distances: Distances, seed: int = 0) -> tuple[Float[np.ndarray, "point axis"], float]:
    """Points of a plane whose distances are close to those given, and the stress: how far they are from them.

    Metric multidimensional scaling, the best of five random starts. The first axis is that of the largest spread, and
    the point that is the furthest out along an axis is on its positive side. The stress is Kruskal's stress 1: the
    root of the squared errors by the squared distances of the points; 0 is perfect.

    >>> points, stress = positions(np.array([[0.0, 3, 4], [3, 0, 5], [4, 5, 0]]))
    >>> float(np.linalg.norm(points[0] - points[2]).round(3)), round(stress, 3)
    (4.0, 0.0)
    """
    if not distances.any():
        return np.zeros((len(distances), AXES)), 0.0
    with config_context(assume_finite=True, skip_parameter_validation=True):
        solution: Any = smacof(
            distances, n_components=AXES, n_init=STARTS, max_iter=ITERATIONS, eps=CLOSE, random_state=seed
        )
    points, raw = solution[:2]
    points = points - points.mean(0)
    points = points @ np.linalg.svd(points, full_matrices=False)[2].T  # [head, axis]
    outermost = points[np.abs(points).argmax(0), np.arange(AXES)]
    squares = np.square(np.linalg.norm(points[:, None] - points, axis=-1)).sum() / 2
    return points * np.where(outermost < 0, -1, 1), float(np.sqrt(raw / squares))


def groups(distances: Distances, number: int | None = None) -> Groups:
    """The group of each point, from 1 in the order of their first points: agglomerative, by average distance.

    * `number`: of groups; by default the one of 2 to 12 whose groups are furthest apart (mean silhouette), among those
      of which no group has more than half of the points: else one odd point stands against all others.

    >>> line = np.array([0.0, 1, 10, 11, 30])
    >>> groups(np.abs(line[:, None] - line)).tolist()
    [1, 1, 2, 2, 3]
    """
    if number is not None:
        return _numbered(_grouped(distances, min(number, len(distances))))
    tried = [_grouped(distances, count) for count in range(2, min(MOST_CLUSTERS + 1, len(distances)))]
    if not tried or not distances.any():
        return np.ones(len(distances), dtype=int)
    balanced = [labels for labels in tried if 2 * np.bincount(labels).max() <= len(labels)]
    return _numbered(
        max(balanced or tried, key=lambda labels: silhouette_score(distances, labels, metric="precomputed"))
    )


def agreement(first: Groups, second: Groups) -> float:
    """Agreement of two groupings, from 1 (the same) to about 0 (as by chance): the adjusted Rand index.

    >>> agreement(np.array([1, 1, 2]), np.array([2, 2, 1]))
    1.0
    """
    return float(adjusted_rand_score(first, second))


def _grouped(distances: Distances, number: int) -> Groups:
    if len(distances) == 1:
        return np.zeros(1, dtype=int)
    return AgglomerativeClustering(n_clusters=number, metric="precomputed", linkage="average").fit_predict(distances)


def _numbered(grouped: Groups) -> Groups:
    first = np.unique(grouped, return_index=True)[1]
    return (first.argsort().argsort() + 1)[grouped]
