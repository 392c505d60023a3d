"""Figures of `structure`: the four scores by layer beside baselines, those by rank, and trees of a few sentences."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures import curve, with_interval
from headscope.figures.dependency_trees import dependency_trees
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Column, Table
from headscope.results import same_bounds
from headscope.studies.structure.page.tables import BASELINES, NAMES, ROLE_SCHEMES, SHARES, chosen

SCORES, RANKS, TREES, PRODUCTS = "Scores by layer", "Scores by rank", "Trees", "Words bound to places"
MOST_LINES = 6  # layers, in one figure


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    by_rank = [_by_rank(result, name) for name in NAMES if f"{name}_by_rank" in result]
    return [*(_by_layer(result, name) for name in NAMES), *by_rank, *_products(result), *trees(result)]


def _products(result: xr.Dataset) -> Iterator[Figure]:
    """The error of tensor products by layer, a line for each scheme of roles."""
    if "tensor_product_error" in result:
        array = with_interval(result, "tensor_product_error").drop_vars("n_examples", errors="ignore")
        words = [ROLE_SCHEMES[str(scheme)] for scheme in array["role_scheme"].values]
        array = array.rename(role_scheme="series").assign_coords(series=words).transpose("layer", "series")
        caption = (
            "Error of sentence vectors as sums of words bound to their places, as a share of their variance; 95% "
            "intervals over sentences. A place is a number from the left, from the right or both, a path in the tree, "
            "or that of another word of the sentence. After McCoy et al. (2019) and Jawahar et al. (2019), section 6."
        )
        yield Figure("tensor-products", PRODUCTS, curve(array, "layer", percent=True), caption, "tensor_product_error")


def _by_layer(result: xr.Dataset, name: str) -> Figure:
    layers = result[name]["layer"]
    series = {"hidden states": with_interval(result, name).drop_vars("n_examples", errors="ignore")}
    if f"{name}_random" in result:
        series["random weights"] = with_interval(result, f"{name}_random")
    for label, words in BASELINES.items():
        constant = result[f"{name}_baseline"].sel(baseline=label, drop=True).expand_dims(layer=layers)
        series[words] = constant.assign_coords(lower=constant, upper=constant)
    array = xr.concat(same_bounds(list(series.values())), "series", coords="different", compat="equals")
    array = array.assign_coords(series=list(series)).rename(name).assign_attrs(result[name].attrs)
    array = array.assign_attrs(long_name=NAMES[name])
    caption = (
        f"{result[name].attrs['long_name'].capitalize()}; 95% intervals over sentences. "
        "Probes of all layers and baselines are trained alike. After Hewitt and Manning (2019), Table 1 and Figure 4."
    )
    return Figure(name, SCORES, curve(array.transpose("layer", "series"), "layer"), caption, name)


def _by_rank(result: xr.Dataset, name: str) -> Figure:
    """The score of each rank, of the chosen layer and of others that are evenly spread."""
    layer, variable = chosen(result).number, f"{name}_by_rank"
    layers = result["layer"].values.tolist()
    shown = sorted({layer, *(layers[round(at)] for at in np.linspace(0, len(layers) - 1, MOST_LINES))})
    array = with_interval(result, variable).sel(layer=shown).assign_attrs(long_name=NAMES[name])
    array = array.rename(layer="series").rename(name).assign_coords(series=[f"layer {number}" for number in shown])
    caption = (
        f"{NAMES[name]} of probes of each rank (number of dimensions), on held-out training sentences; 95% intervals "
        "over sentences. The scores above have the rank of the smallest held-out loss of each layer."
    )
    return Figure(variable, RANKS, curve(array.transpose("probe_rank", "series"), "probe_rank"), caption, variable)


def trees(result: xr.Dataset) -> Iterator[Figure]:
    """Gold and predicted trees of a few sentences."""
    layer = chosen(result).number
    for number, tree in enumerate(json.loads(result.attrs["trees"]), 1):
        caption = (
            f"Gold tree over the words, and under them the tree of the distance probe of layer {layer}; dashed edges "
            "are wrong. Punctuation is left out. After Hewitt and Manning (2019), Figure 2."
        )
        chart = dependency_trees(tree["words"], tree["gold"], tree["predicted"])
        yield Figure(f"tree-{number}", TREES, chart, caption, "uuas", _edges(number, **tree))


def _edges(number: int, words: list[str], gold: list[list[int]], predicted: list[list[int]]) -> Table:
    """The edges of both trees, in the order of the words."""
    trees = [{(min(edge), max(edge)) for edge in edges} for edges in (gold, predicted)]
    rows: list[Any] = [
        ((words[one], words[other]), [("yes" if (one, other) in tree else "no", "") for tree in trees])
        for one, other in sorted(trees[0] | trees[1])
    ]
    columns = (Column("gold", "Gold tree"), Column("predicted", "Predicted"))
    return Table(f"tree-{number}", "Edges of the trees", ("Word", "Linked with"), columns, rows)


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """All scores; held-out training sentences choose the layer."""
    for name, words in NAMES.items():
        array, layer = with_interval(result, name), int(result.attrs["chosen_layer"])
        yield LayerNumber("Trees by a linear map", words, array, layer, name in SHARES)


def layer_figures(result: xr.Dataset) -> Iterator[Figure]:
    """Gold and predicted trees of a few sentences."""
    return trees(result)
