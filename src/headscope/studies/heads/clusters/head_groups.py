"""The clusters and the pairs of heads of a result."""

from collections import Counter
from dataclasses import dataclass
from math import nan

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.figures.labels import head_name

HeadIndex = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster: its number, its heads, and the mean divergence of two of them (NaN of one head)."""

    number: int
    heads: list[HeadIndex]
    divergence: float

    @property
    def names(self) -> list[str]:
        """The heads as the papers write them."""
        return [head_name(*head) for head in self.heads]

    def mean(self, array: xr.DataArray) -> float:
        """The mean of a variable (layer, head) over its heads."""
        return float(np.mean([array.sel(layer=layer, head=head) for layer, head in self.heads]))

    def most(self, array: xr.DataArray) -> list[tuple[str, int]]:
        """The values of a coordinate (layer, head), the most frequent first, and how many of its heads have each."""
        values = [str(array.sel(layer=layer, head=head).item()) for layer, head in self.heads]
        return Counter(filter(None, values)).most_common()


def clusters(result: xr.Dataset) -> list[Cluster]:
    """The clusters of a result, the largest first."""
    if not (places := _places(result)):
        return []
    cluster, values = result["cluster"].transpose("layer", "head").values, _matrix(result["divergence"], places)
    numbers = cluster[cluster > 0].astype(int)
    members = [(number, np.flatnonzero(numbers == number)) for number in dict.fromkeys(numbers.tolist())]
    groups = [Cluster(number, [places[at] for at in heads], _within(values, heads)) for number, heads in members]
    return sorted(groups, key=lambda cluster: (-len(cluster.heads), cluster.number))


def pairs(result: xr.Dataset) -> list[tuple[str, str, float]]:
    """All pairs of heads of which a divergence is known, the most alike first."""
    places = _places(result)
    values = _matrix(result["divergence"], places)
    first, second = np.triu_indices(len(places), 1)
    order = np.argsort(values[first, second], kind="stable")
    return [
        (head_name(*places[i]), head_name(*places[j]), float(values[i, j]))
        for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        if not np.isnan(values[i, j])
    ]


def remote(result: xr.Dataset) -> list[tuple[str, float]]:
    """All heads with their mean divergence from the others that are known, the most remote first."""
    places = _places(result)
    values = _matrix(result["divergence"], places)
    measured = ~np.isnan(values) & ~np.eye(len(places), dtype=bool)
    means = np.where(measured, values, 0).sum(1) / np.maximum(1, measured.sum(1))
    order = [head for head in np.argsort(-means, kind="stable").tolist() if measured[head].any()]
    return [(head_name(*places[head]), float(means[head])) for head in order]


def _places(result: xr.Dataset) -> list[HeadIndex]:
    """The heads that there are."""
    layers, heads = result["layer"].values.tolist(), result["head"].values.tolist()
    cluster = result["cluster"].transpose("layer", "head").values
    return [(layers[row], heads[column]) for row, column in np.argwhere(cluster > 0).tolist()]


def _within(divergence: Float[np.ndarray, "head other"], heads: Int[np.ndarray, " one"]) -> float:
    """The mean divergence of two of these heads; NaN of one."""
    return float(divergence[np.ix_(heads, heads)][np.triu_indices(len(heads), 1)].mean()) if len(heads) > 1 else nan


def _matrix(divergence: xr.DataArray, heads: list[HeadIndex]) -> Float[np.ndarray, "head other"]:
    """The divergences of these heads from each other."""
    layer, head = (xr.DataArray(list(numbers), dims="one") for numbers in zip(*heads, strict=True))
    other_layer, other_head = layer.rename(one="other"), head.rename(one="other")
    part = divergence.sel(layer=layer, head=head, other_layer=other_layer, other_head=other_head)
    return part.transpose("one", "other").values
