"""Figures of an ablation: gains head by head and layer by layer, and importance by gradient beside them."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures import bars, heatmap, scatter, with_interval
from headscope.report.parts import Figure

HEADS, LAYERS, IMPORTANCE = "Heads disabled one at a time", "Layers disabled", "Importance by gradient"


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of an ablation, by the main metric and by the last, the loss, which shows finer differences."""
    return [*_heads(result), *_layers(result), *_importance(result)]


def _metrics(result: xr.Dataset) -> list[str]:
    names = result["metric"].values.tolist()
    return list(dict.fromkeys((names[0], names[-1])))


def _heads(result: xr.Dataset) -> Iterator[Figure]:
    caption = "Above 0 where the score is better without the head. After Kovaleva et al. (2019), Figure 8."
    for metric in _metrics(result):
        gains = with_interval(result, "head_gain").sel(metric=metric, drop=True)
        yield Figure(
            f"head_gain-{metric}", HEADS, heatmap(gains, diverging=True), f"{_named(metric)}. {caption}", "head_gain"
        )


def _layers(result: xr.Dataset) -> Iterator[Figure]:
    for metric in _metrics(result):
        gains = with_interval(result, "layer_gain").sel(metric=metric, drop=True)
        named = gains.assign_coords(layer=[f"layer {number}" for number in gains["layer"].values])
        caption = f"{_named(metric)}. All heads of a layer are disabled together; 95% intervals over examples."
        yield Figure(f"layer_gain-{metric}", LAYERS, bars(named), caption, "layer_gain")


def _importance(result: xr.Dataset) -> Iterator[Figure]:
    if "importance" not in result:
        return
    metric = result["metric"].values.tolist()[-1]
    gains = result["head_gain"].sel(metric=metric, drop=True)
    for estimator in result["estimator"].values.tolist():
        both = xr.concat([result["importance"].sel(estimator=estimator, drop=True), gains], "axis").rename("importance")
        both = both.assign_attrs(long_name=f"Importance ({estimator}) and gain")
        chart = scatter(both, titles=(f"Importance ({estimator})", f"Gain of {_named(metric).lower()}"))
        caption = f"A dot for each head: importance ({estimator}) and the gain of {_named(metric).lower()} without it."
        yield Figure(f"importance-{estimator}", IMPORTANCE, chart, caption, "importance")


def _named(metric: str) -> str:
    return metric.replace("_", " ").capitalize()
