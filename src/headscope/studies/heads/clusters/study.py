"""Run the study: from its options to a labelled result."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import xarray as xr

from headscope import catalog, results
from headscope.corpora import Corpus
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.ranges import Range
from headscope.results.variables import PAIRED, Variables, by_layer, label
from headscope.statistics.bootstrap import Tally
from headscope.studies.heads.clusters import HEADS, STUDY
from headscope.studies.heads.clusters import annotations as beside
from headscope.studies.heads.clusters.head_distances import HeadPairs, groups, positions
from headscope.studies.heads.clusters.observer import NAME, DivergenceObserver
from headscope.study import Number


def run(
    model: Model,
    corpus: Corpus,
    settings: Settings = DEFAULTS,
    *,
    clusters: Annotated[int, Range(1, 10_000)] | None = None,
    patterns: Path | None = None,
    syntax: Path | None = None,
    as_coded: bool = False,
) -> xr.Dataset:
    """`divergence[layer, head, other_layer, other_head]`: the Jensen-Shannon divergence of two heads' attention.

    It is the mean over an example's tokens, then over examples, in nats: 0 for heads that attend alike, ln 2 for those
    that have no token in common.

    Coordinates of heads are `cluster`, the number of each head's cluster, 0 where there is no head; `behaviour`, what a
    head attends to, after the colours of the paper's figure; and from other results `dominant`, its pattern, and
    `best_relation`.

    `as_coded` does as the released code: attention is mixed with 0.1% of uniform attention before it is compared, and
    divergences are summed over all tokens of all examples, so that long examples weigh more.

    Arguments:

    * `clusters`: Number of clusters; by default the number from 2 to 12 with the best silhouette.
    * `patterns`: Folder of a patterns result of this model, to colour heads by.
    * `syntax`: Folder of a syntax result of this model, to label heads by.
    * `as_coded`: Smooth attention and sum over tokens, as the released code does.

    Raises `HeadscopeError` if a folder has no such result of this model, the number of clusters is not one that there
    can be, or no example fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = run(load("minilm"), read("sample", Options(limit=2)))
    >>> result["divergence"].dims, result["position"].dims
    (('layer', 'head', 'other_layer', 'other_head'), ('layer', 'head', 'axis'))
    """
    heads = model.capture.heads
    if clusters is not None and not 1 <= clusters <= sum(heads):
        raise HeadscopeError(f"clusters {clusters}: the model has {sum(heads)} heads; use a number from 1 to that")
    coordinates = {"dominant": patterns and beside.pattern(patterns, model)}
    coordinates |= {"best_relation": syntax and beside.relation(syntax, model)}
    attributes = provenance("clusters", model, corpus, settings)
    outcome = first_pass(model, corpus, settings, as_coded=as_coded).read()
    tallies, read = outcome.value, outcome.attributes
    pairs = HeadPairs(tallies[NAME], heads, summed=as_coded)
    points, stress = positions(pairs.matrix, settings.seed)
    cluster_of_head = groups(pairs.matrix, clusters)
    stability, bounds = pairs.stability(cluster_of_head)
    variables = Variables(
        {}, STUDY.source, STUDY.labels, **PAIRED, arrays=pairs.variables | outcome.coverage.variables()
    )
    for name in STUDY.measures:
        variables.arrays.update(label(catalog.load("measures", name).VARIABLE, tallies[name], heads))
    variables.add("position", by_layer(points, heads))
    variables.add("stress", stress)
    variables.add("cluster_stability", stability, interval=bounds, count=int(read["n_examples"]))
    cluster = np.nan_to_num(by_layer(cluster_of_head, heads)).astype(int)
    coordinates["behaviour"] = beside.behaviour(xr.Dataset(variables.arrays))
    names = Variables({}, STUDY.source, {"cluster": Number("cluster", "cluster of a head", "number", HEADS)})
    coordinates["cluster"] = names.add("cluster", cluster)
    options = {"clusters": clusters, "patterns": str(patterns), "syntax": str(syntax), "as_coded": as_coded}
    result = xr.Dataset(variables.arrays, attrs=attributes | read | {"options": json.dumps(options)})
    return results.check(
        result.assign_coords({name: values for name, values in coordinates.items() if values is not None})
    )


def first_pass(model: Model, corpus: Corpus, settings: Settings, *, as_coded: bool) -> PlannedPass[dict[str, Tally]]:
    """What other studies may read together with this one."""
    observer = DivergenceObserver(model.capture.heads, STUDY.measures, as_coded=as_coded)
    return Pass(model, corpus, settings).collect(observer)
