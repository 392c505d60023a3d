"""Findings of `clusters`: heads that attend alike, within and between layers (Clark et al. 2019, section 6)."""

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from headscope.figures.labels import label
from headscope.report.claims import Claim
from headscope.report.parts import Finding
from headscope.report.wording import estimate, examples, measured, number, rate, several
from headscope.studies.clusters.page.tables import Cluster, clusters, pairs, remote

NAMED = 5
SURE, CHANCE = 0.05, "which may be chance"
# Heads of a layer are called alike if they diverge less than other heads by this share.
RELATIVE = 0.1
ATTEND = {
    "broadly": "broadly",
    "next": "to the next token",
    "previous": "to the previous token",
    "itself": "to the token itself",
}


def highlights(result: xr.Dataset) -> list[Finding]:
    """The nearness of heads of a layer, the sizes of the clusters, and the range of divergences."""
    return [*_same_layer(result), *_sizes(result), *_divergences(result)]


def _same_layer(result: xr.Dataset) -> Iterator[Finding]:
    if measured(result, "layer_gap") is not None:
        gap, within, between = (estimate(result, name) for name in ("layer_gap", "within_layer", "between_layers"))
        examples = int(result.attrs["n_examples"])
        p = float(result["layer_gap_p_value"])
        yield Finding.judged(
            Claim(between.value, within.value, gap, examples, q=p, least=RELATIVE * between.value),
            f"They diverge by {number(within.value)} nats, heads of different layers by {number(between.value)}.",
            holds="Heads of a layer are alike",
            fails="Heads of a layer are no more alike than others",
            undecided="It cannot be told whether heads of a layer are alike",
            unit="examples",
        )


def _sizes(result: xr.Dataset) -> Iterator[Finding]:
    if groups := clusters(result):
        sizes = sorted(len(cluster.heads) for cluster in groups)
        text = f"At the cut there are {len(groups)}, of {sizes[0]} to {several(sizes[-1], 'head')}."
        yield Finding("Clusters of heads", text)


def _divergences(result: xr.Dataset) -> Iterator[Finding]:
    if nearest := pairs(result):
        text = f"Pairs of heads diverge by {_ends(nearest)} nats; 0 means the same attention."
        yield Finding("Divergences of pairs", text)
        text = f"A head diverges from the others by {_ends(remote(result)[::-1])} nats on average."
        yield Finding("Mean divergences", text)


def findings(result: xr.Dataset) -> list[Finding]:
    """All findings about divergences, clusters, pairs and the plane."""
    return [*_layers(result), *_by_layer(result), *_clusters(result), *_pairs(result), *_plane(result), *_few(result)]


def _layers(result: xr.Dataset) -> Iterator[Finding]:
    gap = measured(result, "layer_gap")
    if gap is None:
        return
    within, between, apart = (_written(result, name) for name in ("within_layer", "between_layers", "layer_gap"))
    p = float(result["layer_gap_p_value"])
    how = f"p = {rate(p)}, from heads put into layers at random" + (f": {CHANCE}" if p >= SURE else "")
    yield Finding(
        "Within a layer",
        f"Heads of the same layer diverge by {within} nats, heads of different layers by {between}: a gap of "
        f"{apart} ({how}). In BERT-base, heads of a layer are often fairly "
        f"close (Clark et al., without a number).{examples(gap)}",
    )


def _by_layer(result: xr.Dataset) -> Iterator[Finding]:
    array = result["layer_divergence"]
    own = {layer: float(array.sel(layer=layer, other_layer=layer)) for layer in array["layer"].values.tolist()}
    present = {layer: value for layer, value in own.items() if value == value}
    if len(present) > 1:
        near, far = min(present, key=lambda kind: present[kind]), max(present, key=lambda kind: present[kind])
        ends = f"from {number(present[near])} nats (layer {near}) to {number(present[far])} (layer {far})"
        yield Finding("By layer", f"The mean divergence of two heads of a layer is {ends}.")


def _clusters(result: xr.Dataset) -> Iterator[Finding]:
    groups = clusters(result)
    alone = [name for cluster in groups if len(cluster.heads) == 1 for name in cluster.names]
    single = f"; {', '.join(alone)} {'is' if len(alone) == 1 else 'are'} alone in a cluster" if alone else ""
    stable = f"Their agreement with clusters of resampled examples is {_written(result, 'cluster_stability')}"
    yield Finding(
        "Clusters", f"{several(len(groups), 'cluster')}{single}. {stable} (adjusted Rand index; 1 means equal)."
    )
    for cluster in groups:
        if len(cluster.heads) > 1:
            yield Finding(f"Cluster {cluster.number}", _cluster_text(result, cluster))


def _cluster_text(result: xr.Dataset, cluster: Cluster) -> str:
    heads = (
        f"{len(cluster.heads)} heads, {number(cluster.divergence)} nats apart on average: {', '.join(cluster.names)}"
    )
    does = [f"{count} {_attend(name)}" for name, count in cluster.most(result["behaviour"]) if name != "several"]
    relations = [f"{name} {count}" for name, count in _relations(result, cluster)]
    special = f" Special for the relations: {', '.join(relations)}." if relations else ""
    attend = f" They attend: {', '.join(does)}, the others without a main target." if does else ""
    return f"{heads}.{attend}{special}"


def _attend(name: str) -> str:
    return ATTEND.get(name) or f"to {label('token_class', name)}"


def _relations(result: xr.Dataset, cluster: Cluster) -> list[tuple[str, int]]:
    return cluster.most(result["best_relation"]) if "best_relation" in result.coords else []


def _pairs(result: xr.Dataset) -> Iterator[Finding]:
    if nearest := pairs(result):
        middle = number(float(np.median([nats for *_, nats in nearest])))
        yield Finding("Divergences of pairs", f"{_ends(nearest)} nats; the median pair has {middle}.")
        alone = remote(result)[::-1]
        middle = number(float(np.median([nats for _, nats in alone])))
        yield Finding("Mean divergences", f"From all other heads: {_ends(alone)} nats; the median head has {middle}.")


def _ends(rows: Sequence[tuple]) -> str:
    """The values of the first and the last row."""
    return f"{number(rows[0][-1])} to {number(rows[-1][-1])}"


def _plane(result: xr.Dataset) -> Iterator[Finding]:
    if (stress := measured(result, "stress")) is not None:
        yield Finding(
            "The plane",
            f"Stress {number(float(stress))}: distances in the plane have an error of about {float(stress):.0%}; use "
            "the divergences for exact numbers.",
        )


def _few(result: xr.Dataset) -> Iterator[Finding]:
    if int(result.attrs["n_examples"]) == 1:
        yield Finding(
            "Limits", "There is only one example: intervals and the agreement with resampled examples have no meaning."
        )


def _written(result: xr.Dataset, name: str) -> str:
    value, bounds = estimate(result, name).cell(".3f")
    return f"{value} [{bounds}]" if bounds else value
