"""The heads that attend like a head (Clark et al. 2019, section 6)."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import head_name
from headscope.report.cards.head_numbers import Row, ordinal
from headscope.report.declared import StudyCard
from headscope.report.parts import Finding
from headscope.report.wording import number, of_array
from headscope.studies.heads.clusters.head_groups import clusters

NEAREST, NAMED = 5, 12
DIMS = ("layer", "head", "other_layer", "other_head")


def main_numbers(result: xr.Dataset) -> tuple[str, ...]:
    """None: all but divergences is in `profile`."""
    return ()


def badges(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The cluster of each head."""
    cluster = result["cluster"]
    words = [str(number) if number > 0 else "" for number in cluster.values.ravel().tolist()]
    return {"Cluster": cluster.copy(data=np.array(words, dtype=object).reshape(cluster.shape))}


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The nearest heads, the mean divergence from all heads, and the cluster."""
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


CARD = StudyCard(main_numbers=main_numbers, badges=badges, sentences=sentences)
