"""Figures of `clusters`: heads as points of a plane and their divergences, after Clark et al. (2019), Figure 6."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures import matrix, scatter, with_interval
from headscope.figures.labels import head_name, label
from headscope.report.parts import Figure

POINTS, DIVERGENCES = "Heads as points", "Divergences"
PLANE: dict[str, Any] = {"titles": ("First axis (nats)", "Second axis (nats)"), "plane": True, "side": 680}
# For each coordinate of heads: the title of its colours, and the dimension of its labels.
COLOURS = {
    "behaviour": ("Attends", "behaviour"),
    "dominant": ("Pattern", "pattern"),
    "cluster": ("Cluster", "cluster"),
}
WORDS = {"next": "next token", "previous": "previous token", "itself": "same token"}
WORDS |= {name: label("token_class", name) for name in ("cls", "sep", "punct")}
ALIKE = "Heads that attend alike lie near each other."
CAPTIONS = {
    "behaviour": "Broadly: entropy above 3.8 nats. A neighbour: more than half of the attention. A class of tokens: "
    "more than 0.6 of the attention. Several: none of these. Thresholds of the paper's code.",
    "dominant": "The most frequent pattern of a head's maps (Kovaleva et al. 2019).",
    "cluster": "Agglomerative clusters of the divergences themselves, not of the points of this plane.",
}


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result; those of patterns and relations where the result has them."""
    return [*_points(result), *_divergences(result)]


def _points(result: xr.Dataset) -> Iterator[Figure]:
    position = result["position"].reset_coords(drop=True)
    names, note = None, ""
    if "best_relation" in result.coords:
        names, note = _names(result["best_relation"]), " Heads that are special for a relation are named."
    caption = f"{ALIKE}{note} After Clark et al. (2019), Figure 6."
    yield Figure("points-layer", POINTS, scatter(position, names=names, **PLANE), caption, "position")
    for name, (title, dim) in COLOURS.items():
        if name in result.coords:
            classes = _in_words(result[name], dim).rename(title)
            chart = scatter(position, colour=classes, names=names, **PLANE)
            yield Figure(f"points-{name}", POINTS, chart, f"{CAPTIONS[name]}{note}", "position")


def _in_words(array: xr.DataArray, dim: str) -> xr.DataArray:
    """The values of a coordinate in words."""
    words = np.array([WORDS.get(value) or label(dim, value) for value in array.values.ravel().tolist()], dtype=object)
    return array.copy(data=words.reshape(array.shape))


def _names(relation: xr.DataArray) -> xr.DataArray:
    """The heads that are special for a relation, each with its relation; "" for the others."""
    heads = [head_name(layer, head) for layer in relation["layer"].values for head in relation["head"].values]
    words = relation.transpose("layer", "head").values.ravel().tolist()
    names = np.array([f"{head} {name}" if name else "" for head, name in zip(heads, words, strict=True)], dtype=object)
    coords = {dim: relation[dim].values for dim in ("layer", "head")}
    return xr.DataArray(names.reshape(relation.sizes["layer"], -1), coords)


def _divergences(result: xr.Dataset) -> Iterator[Figure]:
    layers = with_interval(result, "layer_divergence").drop_vars("n_examples", errors="ignore")
    caption = "The mean over all pairs of different heads; on the diagonal, of the same layer."
    if layers.notnull().any():  # a model of one head has no pair of different heads
        yield Figure("layers", DIVERGENCES, matrix(layers, side=300), caption, "layer_divergence")
    caption = "All pairs of heads, layer by layer. A light square on the diagonal is a layer of similar heads."
    pairs = result["divergence"].reset_coords(drop=True)
    yield Figure("heads", DIVERGENCES, matrix(pairs, side=520), caption, "divergence")
