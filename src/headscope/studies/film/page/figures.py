"""Figures of a film: heads as a strip of steps, and curves by layer."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import heatmap, with_interval
from headscope.figures.curve import curve
from headscope.report.parts import Figure
from headscope.report.wording import measured
from headscope.studies.film.page.findings import change
from headscope.studies.film.page.study_numbers import study_numbers

STRIP, CURVES, WHEN, OTHERS = "Step by step", "Curves by layer", "When heads change", "Numbers of other studies"
MOST_PANELS = 12
LATER = "Steps from left to right; darker where attention changed more since the start."
CURVE = {
    "step_weight_change": "How far the weights of a layer moved, as a share of their length at the start.",
    "step_entropy": "Mean over the heads of a layer.",
}
CLASSES = {"cls": "[CLS]", "sep": "separators", "punct": "punctuation"}


def figures(result: xr.Dataset) -> list[Figure]:
    """The strip of steps, curves of layers and of the score, and when each head changed."""
    return [*_strip(result), *_curves(result), *_score(result), *_when(result), *_of_other_studies(result)]


def _strip(result: xr.Dataset) -> Iterator[Figure]:
    changes = change(result, "step_similarity")
    if changes is None:
        return
    yield Figure("strip", STRIP, _strip_of(changes.isel(step=slice(1, None))), LATER, "step_similarity")


def _strip_of(array: xr.DataArray) -> object:
    """A panel of all heads for each step, or for some of many."""
    chosen = np.unique(np.linspace(0, array.sizes["step"] - 1, MOST_PANELS).round().astype(int))
    array = array.isel(step=chosen)
    named = array.assign_coords(step=[f"step {step}" for step in array["step"].values])
    return heatmap(named if len(chosen) > 1 else named.isel(step=0, drop=True), columns=min(6, len(chosen)))


def _curves(result: xr.Dataset) -> Iterator[Figure]:
    changes = change(result, "step_layer_similarity")
    if changes is not None:
        caption = "Mean over the heads of a layer, with 95% intervals over examples."
        yield Figure("change", CURVES, _curve(changes), caption, "step_layer_similarity")
    for name, caption in CURVE.items():
        if name in result:
            array = result[name].mean("head", keep_attrs=True) if "head" in result[name].dims else result[name]
            yield Figure(name, CURVES, _curve(array), caption, name)
    for one, words in CLASSES.items():
        array = measured(result, "step_attention_to", token_class=one)
        if array is not None:
            array = array.mean("head", keep_attrs=True).assign_attrs(long_name=f"attention to {words}")
            caption = "Mean over the heads of a layer."
            yield Figure(f"attention_to-{one}", CURVES, _curve(array), caption, "step_attention_to")


def _curve(array: xr.DataArray) -> object:
    """A line for each layer."""
    keep = [name for name in ("lower", "upper") if name in array.coords and array[name].dims == array.dims]
    array = array.drop_vars([name for name in array.coords if name not in (*array.dims, *keep)])
    return curve(array.transpose("step", "layer"), "step", ordered=True)


def _score(result: xr.Dataset) -> Iterator[Figure]:
    scores = measured(result, "step_score")
    if scores is not None:
        array = with_interval(result, "step_score").isel(metric=0, drop=True).dropna("step")
        yield Figure("score", CURVES, curve(array, "step"), "With 95% intervals over examples.", "step_score")


def _when(result: xr.Dataset) -> Iterator[Figure]:
    halves = measured(result, "half_change_of_head")
    if halves is not None:
        caption = "The share of the steps after which half of the last step's change was there; darker: later."
        yield Figure("half_change_of_head", WHEN, heatmap(halves), caption, "half_change_of_head")


def _of_other_studies(result: xr.Dataset) -> Iterator[Figure]:
    """A strip of each main number of heads, and a curve of each number of layers."""
    for index, array in enumerate(study_numbers(result, "step_number"), 1):
        yield Figure(f"main-number-{index}", OTHERS, _strip_of(array), "From the start on.", "step_number")
    for index, array in enumerate(study_numbers(result, "step_layer_number"), 1):
        caption = "With 95% intervals, where the study has them."
        yield Figure(f"layer-number-{index}", OTHERS, _curve(array), caption, "step_layer_number")
