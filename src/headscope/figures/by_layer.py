"""Heads by layer with the layer's mean, as Figures 2 and 4 of Clark et al. (2019)."""

from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.labels import significant
from headscope.figures.theme import CATEGORIES, GREY, extent, finished, hover, layered, named, quantity, ticks
from headscope.figures.tidy import in_words, inline, number_or_none, others, rows


def by_layer(
    array: xr.DataArray, *, reference: float | None = None, reference_label: str = "", height: int = 260
) -> alt.LayerChart:
    """One dot for each head over its layer, and a line through the means of the layers.

    * `array`: dimensions layer, head and at most one more, which gives the series, else `ValueError`.
    * `reference`: a value to compare with, drawn as a dashed rule, none for NaN; `reference_label` says what it is.
    * `height`: of the plot, in pixels.

    >>> array = xr.DataArray([[0.1, 0.9]], coords={"layer": [1], "head": [1, 2]}, dims=["layer", "head"], name="x")
    >>> len(by_layer(array, reference=0.5).layer)
    4
    """
    reference, series = number_or_none(reference), others(array, "layer", "head")
    if len(series) > 1:
        raise ValueError(f"by_layer: '{array.name}' has {array.dims}; select one of {series} first")
    n_layers = array.sizes["layer"]
    top = max(extent(array)[1], reference or 0.0)
    look: dict[str, Any] = _series(array, series[0]) if series else {"color": alt.ColorValue(CATEGORIES[0])}
    base = alt.Chart(inline(rows(array))).encode(
        x=alt.X("layer:O", title="Layer", axis=alt.Axis(values=ticks(n_layers), labelAngle=0)), **look
    )
    scale = alt.Scale(domain=[extent(array)[0], top], nice=True)
    beside: dict[str, Any] = (
        {"xOffset": alt.XOffset(f"{series[0]}:N", sort=in_words(array, series[0]))} if series else {}
    )
    dots = base.mark_point(filled=True, size=34, opacity=0.5, aria=False).encode(
        **beside, y=alt.Y("value:Q", title=quantity(array), scale=scale), tooltip=hover(array)
    )
    means = base.mark_line(strokeWidth=2.5, aria=False).encode(y=alt.Y("mean(value):Q"))
    layers = [dots, means, *_rule(reference, reference_label)]
    chart = layered(*layers, width=max(560, min(780, 64 * n_layers)), height=height)
    return finished(chart, named(array), _description(array, reference, reference_label))


def _series(array: xr.DataArray, dim: str) -> dict[str, Any]:
    """Colour and shape of the series: both, so that the figure also reads without colours."""
    words = in_words(array, dim)
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1)
    return {
        "color": alt.Color(f"{dim}:N", scale=alt.Scale(domain=words, range=list(CATEGORIES)), legend=legend),
        "shape": alt.Shape(f"{dim}:N", scale=alt.Scale(domain=words), legend=legend),
    }


def _rule(reference: float | None, text: str) -> list[alt.Chart]:
    if reference is None:
        return []
    value = alt.Chart(inline([{"reference": float(reference), "text": text}]))
    rule = value.mark_rule(strokeDash=[5, 4], color=GREY, aria=False).encode(y=alt.Y("reference:Q"))
    words = value.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=GREY, aria=False)
    return [rule, words.encode(y=alt.Y("reference:Q"), x=alt.XValue(0), text=alt.Text("text:N"))]


def _description(array: xr.DataArray, reference: float | None, text: str) -> str:
    mean = array.mean(["head", *others(array, "layer", "head")])
    first, last = float(mean[0]), float(mean[-1])
    ends = f"The mean over heads goes from {significant(first)} in the first layer to {significant(last)} in the last."
    compared = "" if reference is None else f" A rule marks {significant(reference)}: {text}."
    return f"Dots of {array.sizes['head']} heads in {array.sizes['layer']} layers: {named(array)}. {ends}{compared}"
