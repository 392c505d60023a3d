"""The page of `clusters`: heads that attend alike, within and between layers (Clark et al. 2019, section 6)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures import matrix, scatter
from headscope.figures.labels import head_name, label
from headscope.report.claims import Claim
from headscope.report.declared import Chart, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, examples, number, rate, several
from headscope.studies.heads.clusters.head_groups import CARD, Cluster, clusters, pairs, remote

SURE, CHANCE = 0.05, "which may be chance"
# Heads of a layer are called alike if they diverge less than other heads by this share.
RELATIVE = 0.1
ATTEND = {
    "broadly": "broadly",
    "next": "to the next token",
    "previous": "to the previous token",
    "itself": "to the token itself",
}
POINTS, DIVERGENCES = "Heads as points", "Divergences"
PLANE: dict[str, Any] = {"titles": ("First axis (nats)", "Second axis (nats)"), "plane": True, "side": 680}
# For each coordinate of heads: the title of its colours, and the dimension of its labels.
COLOURS = {"behaviour": ("Attends", "behaviour"), "dominant": ("Pattern", "pattern"), "cluster": ("Cluster", "cluster")}
WORDS = {"next": "next token", "previous": "previous token", "itself": "same token"}
WORDS |= {name: label("token_class", name) for name in ("cls", "sep", "punct")}
CAPTIONS = {
    "behaviour": "Broadly: entropy above 3.8 nats. A neighbour: more than half of the attention. A class of tokens: "
    "more than 0.6 of the attention. Several: none of these. Thresholds of the paper's code.",
    "dominant": "The most frequent pattern of a head's maps (Kovaleva et al. 2019).",
    "cluster": "Agglomerative clusters of the divergences themselves, not of the points of this plane.",
}
MEANS: dict[str, tuple[str, dict[str, Any]]] = {
    "[CLS]": ("attention_to", {"token_class": "cls"}),
    "[SEP]": ("attention_to", {"token_class": "sep"}),
    "Punctuation": ("attention_to", {"token_class": "punct"}),
    "Previous": ("attention_offset", {"offset": -1}),
    "Next": ("attention_offset", {"offset": 1}),
    "Entropy": ("entropy", {}),
}
# Coordinates of heads that only some results have, and the dimension that their values are labels of.
NAMES = {"dominant": ("Patterns", "pattern"), "best_relation": ("Relations", "relation")}


def same_layer(numbers: Numbers) -> Finding:
    """Whether heads of a layer are alike."""
    gap, within, between = (numbers(name) for name in ("layer_gap", "within_layer", "between_layers"))
    p, n = numbers("layer_gap_p_value").value, int(numbers.result.attrs["n_examples"])
    return Finding.judged(
        Claim(between.value, within.value, gap, n, q=p, least=RELATIVE * between.value),
        f"They diverge by {number(within.value)} nats, heads of different layers by {number(between.value)}.",
        holds="Heads of the same layer are similar",
        fails="Heads of the same layer are no more similar than others",
        undecided="It cannot be told whether heads of the same layer are similar",
        unit="examples",
    )


def sizes(numbers: Numbers) -> Iterator[Finding]:
    """The sizes of the clusters."""
    if groups := clusters(numbers.result):
        counts = sorted(len(cluster.heads) for cluster in groups)
        text = f"They have {counts[0]} to {several(counts[-1], 'head')}."
        yield Finding(f"Heads form {several(len(groups), 'cluster')}", text)


def divergences(numbers: Numbers) -> Iterator[Finding]:
    """The range of divergences, of pairs and of heads from all others."""
    if nearest := pairs(numbers.result):
        ends, middle = _ends(nearest)
        text = f"Pairs of heads diverge by {ends} nats, the median pair by {middle}; 0 means the same attention."
        yield Finding("Divergences of pairs", text)
        ends, middle = _ends(remote(numbers.result)[::-1])
        text = f"A head diverges from the others by {ends} nats on average, the median head by {middle}."
        yield Finding("Mean divergences", text)


def _ends(rows: Sequence[tuple[Any, ...]]) -> tuple[str, str]:
    """The values of the first and the last row, and the median."""
    values = [row[-1] for row in rows]
    return f"{number(values[0])} to {number(values[-1])}", number(float(np.median(values)))


def layers(numbers: Numbers) -> Finding:
    """Divergences within and between layers, with their intervals."""
    p = numbers("layer_gap_p_value").value
    within, between, gap = (_written(numbers, name) for name in ("within_layer", "between_layers", "layer_gap"))
    how = f"p = {rate(p)}, from heads put into layers at random" + (f": {CHANCE}" if p >= SURE else "")
    return Finding(
        "Within a layer",
        f"Heads of the same layer diverge by {within} nats, heads of different layers by {between}: a gap of {gap} "
        f"({how}). In BERT-base, heads of a layer are often fairly close (Clark et al., without a number)."
        f"{examples(numbers.array('layer_gap'))}",
    )


def _written(numbers: Numbers, name: str) -> str:
    value, bounds = estimate(numbers.result, name).cell(".3f")
    return f"{value} [{bounds}]" if bounds else value


def members(numbers: Numbers) -> Iterator[Finding]:
    """The clusters: how stable they are, and the heads of each."""
    groups = clusters(numbers.result)
    alone = [name for cluster in groups if len(cluster.heads) == 1 for name in cluster.names]
    single = f"; {', '.join(alone)} {'is' if len(alone) == 1 else 'are'} alone in a cluster" if alone else ""
    stable = f"Their agreement with clusters of resampled examples is {_written(numbers, 'cluster_stability')}"
    yield Finding(
        "Clusters", f"{several(len(groups), 'cluster')}{single}. {stable} (adjusted Rand index; 1 means equal)."
    )
    for cluster in groups:
        if len(cluster.heads) > 1:
            yield Finding(f"Cluster {cluster.number}", _cluster_text(numbers.result, cluster))


def _cluster_text(result: xr.Dataset, cluster: Cluster) -> str:
    heads = (
        f"{len(cluster.heads)} heads, {number(cluster.divergence)} nats apart on average: {', '.join(cluster.names)}"
    )
    behaviour = [(name, count) for name, count in cluster.most(result["behaviour"]) if name != "several"]
    does = [f"{count} {ATTEND.get(name) or 'to ' + label('token_class', name)}" for name, count in behaviour]
    known = cluster.most(result["best_relation"]) if "best_relation" in result.coords else []
    relations = [f"{name} {count}" for name, count in known]
    special = f" Special for the relations: {', '.join(relations)}." if relations else ""
    others = ", the others without a main target" if sum(count for _, count in behaviour) < len(cluster.heads) else ""
    attend = f" They attend: {', '.join(does)}{others}." if does else ""
    return f"{heads}.{attend}{special}"


def plane(numbers: Numbers) -> Finding:
    """How exact the plane is."""
    stress = numbers("stress").value
    return Finding(
        "The plane",
        f"Stress {number(stress)}: distances in the plane have an error of about {stress:.0%}; use the divergences for "
        "exact numbers.",
    )


def limits(numbers: Numbers) -> Iterator[Finding]:
    """What a single example does not tell."""
    if int(numbers.result.attrs["n_examples"]) == 1:
        text = "There is only one example: intervals and the agreement with resampled examples have no meaning."
        yield Finding("Limits", text)


def points(numbers: Numbers) -> Iterator[Figure]:
    """Heads as points of a plane; those of patterns and relations where the result has them."""
    result = numbers.result
    position, names, note = result["position"].reset_coords(drop=True), None, ""
    if "best_relation" in result.coords:
        names, note = _names(result["best_relation"]), " Heads that are special for a relation are named."
    caption = f"Heads with similar attention lie near each other.{note} After Clark et al. (2019), Figure 6."
    yield Figure("points-layer", POINTS, scatter(position, names=names, **PLANE), caption, "position")
    for name, (title, dim) in COLOURS.items():
        if name in result.coords:
            values = result[name].values.ravel().tolist()
            words = np.array([WORDS.get(value) or label(dim, value) for value in values], dtype=object)
            classes = result[name].copy(data=words.reshape(result[name].shape)).rename(title)
            chart = scatter(position, colour=classes, names=names, **PLANE)
            yield Figure(f"points-{name}", POINTS, chart, f"{CAPTIONS[name]}{note}", "position")


def _names(relation: xr.DataArray) -> xr.DataArray:
    """The heads that are special for a relation, each with its relation; "" for the others."""
    heads = [head_name(layer, head) for layer in relation["layer"].values for head in relation["head"].values]
    words = relation.transpose("layer", "head").values.ravel().tolist()
    names = np.array([f"{head} {name}" if name else "" for head, name in zip(heads, words, strict=True)], dtype=object)
    coords = {dim: relation[dim].values for dim in ("layer", "head")}
    return xr.DataArray(names.reshape(relation.sizes["layer"], -1), coords)


def all_pairs(numbers: Numbers) -> Figure:
    """The divergences of all pairs of heads."""
    caption = "All pairs of heads, layer by layer. A light square on the diagonal is a layer of similar heads."
    divergence = numbers.result["divergence"].reset_coords(drop=True)
    return Figure("heads", DIVERGENCES, matrix(divergence, side=520), caption, "divergence")


def table(numbers: Numbers) -> Table:
    """One line for each cluster, the largest first."""
    result = numbers.result
    names = {name: title for name, (title, _) in NAMES.items() if name in result.coords}
    caption = (
        "Clusters: number of heads, mean divergence within the cluster (nats), and means over the heads: shares of "
        "attention to classes of tokens and neighbours, entropy (nats)."
    )
    rows = [(cluster.number, _cells(result, cluster, list(names))) for cluster in clusters(result)]
    return titled("clusters", caption, "Cluster", ("Heads", "Within", *MEANS, *names.values()), rows)


def _cells(result: xr.Dataset, cluster: Cluster, names: list[str]) -> Cells:
    alone = len(cluster.heads) == 1
    means = [cluster.mean(result[name].sel(labels)) for name, labels in MEANS.values()]
    counts = [(cluster.most(result[name]), NAMES[name][1]) for name in names]
    return [
        (str(len(cluster.heads)), ""),
        None if alone else (number(cluster.divergence), ""),
        *((number(mean), "") if mean == mean else None for mean in means),
        *((", ".join(f"{label(dim, value)} {count}" for value, count in values), "") for values, dim in counts),
    ]


PAGE = StudyParts(
    highlights=(same_layer, sizes, divergences),
    findings=(layers, members, plane, limits),
    charts=(
        points,
        Chart(
            *("layer_divergence", "matrix", DIVERGENCES),
            "The mean over all pairs of different heads; on the diagonal, of the same layer.",
            *("layers", ("layer", "other_layer")),
            style={"side": 300},
        ),
        all_pairs,
    ),
    tables=(table,),
    card=CARD,
)
