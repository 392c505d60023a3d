"""Figures of an ablation: gains head by head and layer by layer, and importance by gradient beside them."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, heatmap, scatter, with_interval
from headscope.figures.labels import label
from headscope.report.parts import Figure, LayerNumber
from headscope.report.wording import measured
from headscope.studies.ablate.page import perturbed, shortcuts

HEADS, LAYERS, IMPORTANCE = "Heads disabled one at a time", "Layers disabled", "Importance by gradient"


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of an ablation, by the main metric and by the last, the loss, which shows finer differences."""
    return [
        *shortcuts.figures(result),
        *_heads(result),
        *_layers(result),
        *_importance(result),
        *perturbed.figures(result),
    ]


def _metrics(result: xr.Dataset) -> list[str]:
    names = result["metric"].values.tolist()
    return list(dict.fromkeys((names[0], names[-1])))


def _heads(result: xr.Dataset) -> Iterator[Figure]:
    caption = "Above 0 where the score is better without the head. After Kovaleva et al. (2019), Figure 8."
    for metric in _metrics(result):
        gains = _gains(result, "head_gain", metric)
        yield Figure(f"head_gain-{metric}", HEADS, heatmap(gains, diverging=True), caption, "head_gain")


def _layers(result: xr.Dataset) -> Iterator[Figure]:
    for metric in _metrics(result):
        gains = _gains(result, "layer_gain", metric)
        named = gains.assign_coords(layer=[f"layer {number}" for number in gains["layer"].values])
        caption = "All heads of a layer are disabled together; 95% intervals over examples."
        yield Figure(f"layer_gain-{metric}", LAYERS, bars(named), caption, "layer_gain")


def _gains(result: xr.Dataset, name: str, metric: str) -> xr.DataArray:
    """Gains of one metric, with its name in the title."""
    gains = with_interval(result, name).sel(metric=metric, drop=True)
    title = str(gains.attrs["long_name"]).replace("score", label("metric", metric))
    return gains.assign_attrs(long_name=title)


def _importance(result: xr.Dataset) -> Iterator[Figure]:
    if "importance" not in result:
        return
    metric = result["metric"].values.tolist()[-1]
    gains, name = result["head_gain"].sel(metric=metric, drop=True), label("metric", metric)
    for estimator in result["estimator"].values.tolist():
        both = xr.concat([result["importance"].sel(estimator=estimator, drop=True), gains], "axis").rename("importance")
        importance = f"Importance, {label('estimator', estimator)}"
        both = both.assign_attrs(long_name=f"{importance}, and gain of {name}")
        chart = scatter(both, titles=(importance, f"Gain of {name}"))
        caption = f"A dot for each head: its importance, and the gain of {name} without it."
        yield Figure(f"importance-{estimator}", IMPORTANCE, chart, caption, "importance")


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """What the main metric loses with all heads of a layer disabled, below 0 where it is better without them."""
    metric = str(result["metric"].values[0])
    array = measured(result, "layer_gain", metric=metric)
    if array is not None:
        task = result.attrs.get("task", result.attrs["corpus"])
        words = f"{label('metric', metric)} on {task}, lost without the layer"
        lost = -array.drop_vars("metric", errors="ignore")
        lost = lost.assign_coords(lower=-array["upper"], upper=-array["lower"])
        yield LayerNumber("Layers that a task needs", words, lost, is_share=False, is_needed=True)
