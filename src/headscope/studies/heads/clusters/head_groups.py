"""The clusters and pairs of heads of a result; and what the card of a head says of its cluster and of heads like it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import nan

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.report.cards.head_numbers import Row, ordinal
from headscope.report.declared import StudyCard
from headscope.report.parts import Finding
from headscope.report.wording import number, of_array

HeadIndex = tuple[int, int]
NEAREST, NAMED = 5, 12
DIMS = ("layer", "head", "other_layer", "other_head")


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
    """All pairs of heads of which a divergence is known, the most similar first."""
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
    layers, columns = (divergence[name].values.tolist() for name in DIMS[:2])
    at = ([layers.index(layer) for layer, _ in heads], [columns.index(head) for _, head in heads])
    # numpy takes a tenth of xarray's time, and every card asks
    return divergence.transpose(*DIMS).values[at][:, *at]


def badges(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The cluster of each head."""
    cluster = result["cluster"]
    words = [str(number) if number > 0 else "" for number in cluster.values.ravel().tolist()]
    return {"Cluster": cluster.copy(data=np.array(words, dtype=object).reshape(cluster.shape))}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The nearest heads, the mean divergence from all heads, and the cluster; nothing where one head was measured."""
    if not numbers:
        return
    head = (numbers[0].layer, numbers[0].head)
    array = with_interval(result, "divergence").transpose(*DIMS)
    n = f"; n = {int(array['n_examples'].max()):,} examples" if "n_examples" in array.coords else ""
    layers, heads = array["layer"].values.tolist(), array["head"].values.tolist()
    here = (layers.index(head[0]), heads.index(head[1]))
    values = array.values  # of all heads at each call: numpy takes a tenth of xarray's time
    places = np.argwhere(~np.isnan(values).all((0, 1)))  # [other, layer and head]
    others = values[:, :, *places.T]  # [layer, head, other]
    near = [tuple(places[at]) for at in np.argsort(others[here], kind="stable") if tuple(places[at]) != here]
    if not near:
        return
    texts = "; ".join(
        f"{head_name(layers[layer], heads[column])} {of_array(array[*here, layer, column]).text}"
        for layer, column in near[:NEAREST]
    )
    yield Finding("Nearest heads", f"{texts} nats of Jensen-Shannon divergence; nearest of {len(near)} heads{n}.")
    mean = np.where(np.isnan(others).all(-1), np.nan, np.nansum(others, -1)) / len(near)
    mine, middle = float(mean[here]), float(np.nanmedian(mean))
    rank = f"{ordinal(1 + int((mean > mine).sum()))} of {len(near) + 1}, the median head has {number(middle)}"
    yield Finding("From all heads", f"Mean divergence {number(mine)} nats ({rank}){n}.")
    yield from _cluster(result, head)


def _cluster(result: xr.Dataset, head: tuple[int, int]) -> Iterator[Finding]:
    stable = f"agreement with clusters of resampled examples {number(float(result['cluster_stability']))}"
    for cluster in clusters(result):
        if head in cluster.heads:
            names = [name for name, at in zip(cluster.names, cluster.heads, strict=True) if at != head]
            others = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if names[NAMED:] else "")
            yield Finding("Cluster", f"Cluster {cluster.number}: {f'with {others}' if others else 'alone'} ({stable}).")


CARD = StudyCard(main_numbers=(), badges=badges, sentences=sentences)
