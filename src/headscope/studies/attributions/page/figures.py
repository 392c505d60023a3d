"""Figures of `attributions`: methods by faithfulness, inputs coloured by each method, layers, curves and classes."""

import json
from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import bars, curve, heatmap, matrix, with_interval
from headscope.figures.token_rows import token_rows
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Column, Table
from headscope.results import same_bounds
from headscope.studies.attributions.page import altered_attention, altered_layers
from headscope.studies.attributions.page.tables import NAMES, chosen, in_words

METHODS, INPUTS, LAYERS, CURVES, CLASSES, HEADS = (
    "Methods by faithfulness",
    "Important tokens",
    "Layers",
    "Deletion and insertion",
    "Classes of tokens",
    "What heads move",
)
# Lines that can be told from each other.
MOST_LINES = 6
MATRICES = {
    "comprehensiveness_gain": "Fall of the target without the most important tokens, more than in random order.",
    "sufficiency_gain": "Fall of the target with the most important tokens alone, less than in random order.",
    "rank_correlation": "Rank correlation of importance with blank-out.",
}


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    explained = [*altered_attention.figures(result), *altered_layers.figures(result)]
    methods = [*_methods(result), *inputs(result), *_layers(result), *_curves(result)]
    return [*methods, *explained, *_classes(result), *_heads(result)]


def _methods(result: xr.Dataset) -> Iterator[Figure]:
    methods = chosen(result)
    if methods:
        array = with_interval(result, "chosen_comprehensiveness_gain").drop_vars("n_examples", errors="ignore")
        array = array.sel(attribution=[choice.method for choice in methods])
        array = array.assign_coords(attribution=[choice.name for choice in methods])
        array = array.rename("gain").assign_attrs(
            long_name="Faithfulness: fall of the target, more than in random order"
        )
        caption = (
            "How much more the target falls without the most important tokens than without random ones, with 95% "
            "intervals. The layer of each method was chosen on one half of the inputs; scores are of the other half."
        )
        yield Figure("methods", METHODS, bars(array), caption, "chosen_comprehensiveness_gain")


def inputs(result: xr.Dataset) -> Iterator[Figure]:
    """A few inputs, their tokens coloured by each method."""
    layers = {choice.method: choice.layer for choice in chosen(result)}
    last = int(result["layer"].max())
    for number, example in enumerate(json.loads(result.attrs["inputs"]), 1):
        order = [*layers, *(name for name in NAMES if name not in layers)]
        rows = {NAMES[name]: example["importance"][name] for name in order if name in example["importance"]}
        indices = {NAMES[name]: layers.get(name, last) - 1 for name in order}
        rows = {name: values[indices[name]] for name, values in rows.items()}
        caption = (
            "Importance of each token by each method at its chosen layer, the most faithful method first; the largest "
            "of a row is 1. Only gradients and values have a sign: orange raises the target, violet lowers it."
        )
        chart = token_rows(example["tokens"], rows, f"Importance of tokens, input {number}", "importance")
        yield Figure(
            f"input-{number}", INPUTS, chart, caption, "importance_share", _table(number, example["tokens"], rows)
        )


def _table(number: int, tokens: list[str], rows: dict[str, list[float]]) -> Table:
    """The importance of each token by each method."""
    lines: list[Any] = [
        ((token,), [(f"{value:.2f}", "") for value in values])
        for token, *values in zip(tokens, *rows.values(), strict=True)
    ]
    columns = tuple(Column(name, name) for name in rows)
    return Table(f"input-{number}", "Importance of tokens", ("Token",), columns, lines)


def _layers(result: xr.Dataset) -> Iterator[Figure]:
    for name, caption in MATRICES.items():
        if name in result and bool(result[name].notnull().any()):
            array = in_words(with_interval(result, name)).drop_vars("n_examples", errors="ignore")
            array = array.rename("gain")
            yield Figure(name, LAYERS, matrix(array, side=300), f"{caption} By method and layer.", name)


def _curves(result: xr.Dataset) -> Iterator[Figure]:
    methods = chosen(result)[:MOST_LINES]
    for name, words in (("deletion", "without"), ("insertion", "with")):
        if methods:
            lines = {
                choice.name: with_interval(result, name).sel(attribution=choice.method, layer=choice.layer, drop=True)
                for choice in methods
            } | {"random order": with_interval(result, f"{name}_random")}
            array = xr.concat(
                same_bounds(list(lines.values())), "series", coords="different", compat="equals", join="outer"
            )
            array = array.drop_vars("n_examples", errors="ignore").assign_coords(series=list(lines)).rename(name)
            array = array.assign_attrs(result[name].attrs)
            caption = (
                f"Target {words} a share of the tokens, the most important first, with 95% intervals: the most "
                "faithful methods and random order. After DeYoung et al. (2020)."
            )
            chart = curve(array.transpose("token_share", "series"), "token_share", percent=True)
            yield Figure(name, CURVES, chart, caption, name)


def _classes(result: xr.Dataset) -> Iterator[Figure]:
    array = result["importance_share"].mean("layer").assign_attrs(result["importance_share"].attrs)
    caption = "Share of importance of classes of tokens, averaged over layers; token shares are in the tables."
    array = in_words(array).rename("importance_share").assign_attrs(long_name="Importance by class of token")
    yield Figure("importance_share", CLASSES, bars(array), caption, "importance_share")


def _heads(result: xr.Dataset) -> Iterator[Figure]:
    for name, caption in (
        ("norm_to", "Share of the lengths of what each head moves, by class of token. After Kobayashi et al. (2020)."),
        ("attention_to", "Attention of each head by class of token, of the same inputs."),
    ):
        yield Figure(name, HEADS, heatmap(with_interval(result, name)), caption, name)


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """Faithfulness, whose layer one half of the inputs chooses, and what alterations of a layer's attention change."""
    for choice in chosen(result):
        array = with_interval(result, "comprehensiveness_gain").sel(attribution=choice.method, drop=True)
        yield LayerNumber("Faithfulness of attributions", NAMES[choice.method], array, choice.layer, is_share=False)
    yield from altered_layers.layer_numbers(result)


def layer_figures(result: xr.Dataset) -> Iterator[Figure]:
    """Inputs whose tokens are coloured by each method."""
    return inputs(result)
