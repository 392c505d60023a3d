"""Mean divergences of all pairs of heads: by pair, by layers, within layers against between them; groups and places.

Heads are points of a plane by multidimensional scaling, and groups by agglomerative clusters.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int
from sklearn import config_context
from sklearn.cluster import AgglomerativeClustering
from sklearn.manifold import smacof
from sklearn.metrics import adjusted_rand_score, silhouette_score

from headscope.results.variables import PAIRED, Variables, by_layer
from headscope.statistics.bootstrap import Tally
from headscope.statistics.intervals import interval
from headscope.studies.heads.clusters import STUDY

Distances = Float[np.ndarray, "point point"]
Groups = Int[np.ndarray, " point"]
# As in Clark et al.'s code: starts, iterations, and when to stop.
STARTS, ITERATIONS, CLOSE = 5, 1000, 1e-10
AXES = 2
# Largest number of groups that is tried.
MOST_CLUSTERS = 12
PERMUTATIONS = 999
# Groupings of this many resamples tell how stable groups are; pairs whose intervals are sorted together.
REGROUPED, TOGETHER = 100, 4096
SUMMED = "nats, summed over tokens"


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


@dataclass(frozen=True)
class HeadPairs:
    """Divergences of pairs of heads: those of `np.triu_indices`, heads of all layers in a row.

    * `heads`: the number of heads of each layer; `summed`: whether divergences are sums, not means, over examples.
    """

    tally: Tally
    heads: tuple[int, ...]
    summed: bool = False

    @cached_property
    def matrix(self) -> Float[np.ndarray, "head head"]:
        """The divergence of each head from each other."""
        return _square(self.tally.mean * self._times)

    @property
    def variables(self) -> dict[str, xr.DataArray]:
        """The divergences of heads and of layers, and the gap between layers."""
        units = {"nats": SUMMED} if self.summed else {}
        labels = {name: replace(label, unit=units.get(label.unit, label.unit)) for name, label in STUDY.labels.items()}
        variables = Variables({}, STUDY.source, labels, **PAIRED)
        estimates = {"divergence": (self._by_head(self.matrix), self._bounds()), "layer_divergence": self._layers()}
        estimates |= {name: self._estimate(tally) for name, tally in self._claims().items()}
        for name, (values, bounds) in estimates.items():
            variables.add(name, values, interval=bounds, count=int(self.tally.count))
        variables.add("layer_gap_p_value", self._p_value())
        return variables.arrays

    def stability(self, clusters: Int[np.ndarray, " head"]) -> tuple[float, Float[np.ndarray, " bound"]]:
        """Agreement of the clusters of resampled examples with `clusters` (adjusted Rand index).

        Returns: the mean, and the 95% interval.
        """
        number, scores = int(clusters.max()), []
        for total, count in zip(self.tally.resampled_total, self.tally.resampled_count, strict=True):
            if count > 0 and len(scores) < REGROUPED:
                scores.append(agreement(clusters, groups(_square(total / count), number)))
        values = np.array(scores or [np.nan])
        return float(values.mean()), interval(values)

    @property
    def _times(self) -> float:
        return float(self.tally.count) if self.summed else 1.0

    @cached_property
    def _layer(self) -> tuple[Int[np.ndarray, " pair"], Int[np.ndarray, " pair"]]:
        """The layers of the two heads of each pair, from 0; the first is never the higher."""
        layer = np.repeat(np.arange(len(self.heads)), self.heads)
        first, second = np.triu_indices(len(layer), 1)
        return layer[first], layer[second]

    def _bounds(self) -> Float[np.ndarray, "layer head other_layer other_head 2"]:
        """The intervals of all pairs, some of them at a time: resamples are many."""
        count = self.tally.resampled_count[:, None]
        parts = [
            self.tally.interval_of(
                self.tally.resampled_total[:, first : first + TOGETHER] / np.where(count > 0, count, np.nan)
            )
            for first in range(0, len(self.tally.total), TOGETHER)
        ]
        bounds = np.concatenate(parts or [np.empty((0, 2))]) * self._times
        return np.stack([self._by_head(_square(side)) for side in bounds.T], axis=-1)

    def _by_head(
        self, matrix: Float[np.ndarray, "head head"]
    ) -> Float[np.ndarray, "layer head other_layer other_head"]:
        rows = by_layer(matrix, self.heads)
        columns = by_layer(np.moveaxis(rows, -1, 0), self.heads)
        return np.moveaxis(columns, (0, 1), (2, 3))

    def _layers(self) -> tuple[Float[np.ndarray, "layer layer"], Float[np.ndarray, "layer layer 2"]]:
        number = len(self.heads)
        means, bounds = np.full((number, number), np.nan), np.full((number, number, 2), np.nan)
        for first, second in combinations_with_replacement(range(number), 2):
            chosen = (self._layer[0] == first) & (self._layer[1] == second)
            if chosen.any():
                means[first, second], bounds[first, second] = self._estimate(self._mean(chosen))
                means[second, first], bounds[second, first] = means[first, second], bounds[first, second]
        return means, bounds

    def _claims(self) -> dict[str, Tally]:
        same = self._layer[0] == self._layer[1]
        if same.all() or not same.any():
            return {}
        within, between = self._mean(same), self._mean(~same)
        gap = Tally(
            between.total - within.total,
            between.count,
            between.resampled_total - within.resampled_total,
            between.resampled_count,
        )
        return {"within_layer": within, "between_layers": between, "layer_gap": gap}

    def _mean(self, chosen: Bool[np.ndarray, " pair"]) -> Tally:
        """The tally of the mean over some pairs."""
        resampled = self.tally.resampled_total[:, chosen].mean(1, keepdims=True)
        return Tally(
            self.tally.total[chosen].mean(keepdims=True), self.tally.count, resampled, self.tally.resampled_count
        )

    def _estimate(self, tally: Tally) -> tuple[float, Float[np.ndarray, " bound"]]:
        return float(tally.mean[0]) * self._times, tally.interval[0] * self._times

    def _p_value(self) -> float:
        """P-value of the gap (one-sided): share of random orders of the heads with a gap at least as large."""
        layer = np.repeat(np.arange(len(self.heads)), self.heads)
        if not self._claims():
            return np.nan
        random = np.random.default_rng(0)
        within = _within(self.matrix, layer)
        as_small = [_within(self.matrix, random.permutation(layer)) <= within + 1e-9 for _ in range(PERMUTATIONS)]
        return (1 + sum(as_small)) / (1 + PERMUTATIONS)


def _within(matrix: Float[np.ndarray, "head head"], layer: Int[np.ndarray, " head"]) -> float:
    """The divergences of heads of the same layer, summed."""
    members = np.equal.outer(layer, np.unique(layer)).astype(float)
    # [head, layer], [head, head], [head, layer] to a number
    return float(np.einsum("hl,hg,gl->", members, matrix, members, optimize=True))


def _square(pairs: Float[np.ndarray, " pair"]) -> Float[np.ndarray, "head head"]:
    """The symmetric matrix of these pairs, with 0 on its diagonal."""
    heads = round((1 + (1 + 8 * len(pairs)) ** 0.5) / 2)
    matrix = np.zeros((heads, heads))
    matrix[np.triu_indices(heads, 1)] = pairs
    return matrix + matrix.T
