"""Findings of `clusters`: which heads are alike, and whether those of a layer are (Clark et al. 2019, section 6)."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import label
from headscope.report.parts import Finding
from headscope.report.wording import examples, measured, number, several
from headscope.studies.clusters.page.summary import Cluster, clusters, pairs, remote

NAMED = 5
SURE, CHANCE = 0.05, "which may be chance"
ATTEND = {
    "broadly": "broadly",
    "next": "to the next token",
    "previous": "to the previous token",
    "itself": "to the token itself",
}


def findings(result: xr.Dataset) -> list[Finding]:
    """What the divergences come to."""
    return [*_layers(result), *_by_layer(result), *_clusters(result), *_pairs(result), *_plane(result), *_few(result)]


def _layers(result: xr.Dataset) -> Iterator[Finding]:
    gap = measured(result, "layer_gap")
    if gap is None:
        return
    within, between = (_interval(result, name) for name in ("within_layer", "between_layers"))
    p = float(result["layer_gap_p_value"])
    nearer = "are nearer to each other" if float(gap) > 0 else "are no nearer to each other"
    how = f"p = {p:.2g}, heads put into layers at random" + (f": {CHANCE}" if p >= SURE else "")
    yield Finding(
        "Within a layer",
        f"Heads of the same layer diverge by {within} nats, heads of different layers by {between}: a gap of "
        f"{_interval(result, 'layer_gap')} ({how}). Heads of a layer {nearer} than others; Clark et al. found them "
        f"often fairly close in BERT-base, without a number.{examples(gap)}",
    )


def _by_layer(result: xr.Dataset) -> Iterator[Finding]:
    array = result["layer_divergence"]
    own = {layer: float(array.sel(layer=layer, other_layer=layer)) for layer in array["layer"].values.tolist()}
    known = {layer: value for layer, value in own.items() if value == value}
    if len(known) > 1:
        near, far = min(known, key=lambda each: known[each]), max(known, key=lambda each: known[each])
        told = f"most alike in layer {near} ({number(known[near])} nats), least in layer {far} ({number(known[far])})"
        yield Finding("By layer", f"Heads of one layer are {told}.")


def _clusters(result: xr.Dataset) -> Iterator[Finding]:
    found = clusters(result)
    alone = [name for each in found if len(each.heads) == 1 for name in each.names]
    told = f"; {', '.join(alone)} {'is' if len(alone) == 1 else 'are'} alone in a cluster" if alone else ""
    stable = f"Clusters of resampled examples agree with them by {_interval(result, 'cluster_stability')}"
    yield Finding("Clusters", f"{several(len(found), 'cluster')}{told}. {stable} (adjusted Rand index; 1 is the same).")
    for each in found:
        if len(each.heads) > 1:
            yield Finding(f"Cluster {each.number}", _told(result, each))


def _told(result: xr.Dataset, cluster: Cluster) -> str:
    heads = (
        f"{len(cluster.heads)} heads, {number(cluster.divergence)} nats apart on average: {', '.join(cluster.names)}"
    )
    does = [f"{count} {_attend(name)}" for name, count in cluster.most(result["behaviour"]) if name != "several"]
    known = [f"{name} {count}" for name, count in _relations(result, cluster)]
    told = f" Relations that they know: {', '.join(known)}." if known else ""
    attend = f" They attend: {', '.join(does)}, the others to several things." if does else ""
    return f"{heads}.{attend}{told}"


def _attend(name: str) -> str:
    return ATTEND.get(name) or f"to {label('token_class', name)}"


def _relations(result: xr.Dataset, cluster: Cluster) -> list[tuple[str, int]]:
    return cluster.most(result["best_relation"]) if "best_relation" in result.coords else []


def _pairs(result: xr.Dataset) -> Iterator[Finding]:
    found, alone = pairs(result), remote(result)
    if found:
        near = ", ".join(f"{one} and {other} ({number(value)})" for one, other, value in found[:NAMED])
        one, other, value = found[-1]
        yield Finding("Most alike", f"{near}; least alike are {one} and {other} ({number(value)} nats).")
        far = ", ".join(f"{head} ({number(value)})" for head, value in alone[:NAMED])
        yield Finding("Most remote", f"Mean divergence from all other heads: {far}.")


def _plane(result: xr.Dataset) -> Iterator[Finding]:
    stress = float(result["stress"])
    yield Finding(
        "The plane",
        f"Stress {number(stress)}: distances of the points are off by about {100 * stress:.0f}% of their size; read "
        "numbers from the divergences.",
    )


def _few(result: xr.Dataset) -> Iterator[Finding]:
    if int(result.attrs["n_examples"]) == 1:
        yield Finding("Mind", "This is one example: intervals and the agreement of resamples say nothing.")


def _interval(result: xr.Dataset, name: str) -> str:
    value, bounds = float(result[name]), result[f"{name}_ci"].values.tolist()
    return f"{value:.3f} [{bounds[0]:.3f}, {bounds[1]:.3f}]"
