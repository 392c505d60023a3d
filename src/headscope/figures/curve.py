"""A line over numbers, such as shares or epochs, with its 95% interval as a band."""

from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.labels import from_to, title
from headscope.figures.theme import CATEGORIES, GREY, finished, hover, layered, named, quantity, shades
from headscope.figures.tidy import in_words, inline, number_or_none, others, rows

LEGEND_LETTERS = 75  # of one row


def curve(
    array: xr.DataArray,
    dim: str,
    *,
    percent: bool = False,
    reference: float | None = None,
    ordered: bool = False,
    log: bool = False,
    width: int = 520,
    height: int = 260,
) -> alt.LayerChart:
    """Values over the numbers of a dimension; a second dimension gives a line each.

    * `array`: `dim` and at most one more dimension; see `with_interval`.
    * `percent`: whether the labels of `dim` are shares.
    * `ordered`: whether the lines have an order, such as layers: from light to dark, by colour alone.
    * `log`: whether the numbers of `dim`, 0 among them, stand where their logarithms are.
    * `reference`: a value to compare with, drawn as a dashed rule, none for NaN.
    * `width`, `height`: of the plot, in pixels.

    Raises `ValueError` for other dimensions, and for counts as shares.

    >>> array = xr.DataArray([0.9, 0.8], coords={"share_removed": [0.0, 0.5]}, name="score")
    >>> type(curve(array, "share_removed")).__name__
    'LayerChart'
    """
    reference, series = number_or_none(reference), others(array, dim)
    if len(series) > 1:
        raise ValueError(f"curve: '{array.name}' has {array.dims}; select one of {series} first")
    if percent and array[dim].dtype.kind in "iu":
        raise ValueError(f"curve: '{dim}' counts; its labels are no shares")
    records = [row | {dim: float(row[dim])} for row in rows(array)]
    numbers = alt.Axis(tickMinStep=1) if array[dim].dtype.kind == "i" else alt.Axis()
    numbers = alt.Axis(values=array[dim].values.tolist()) if log else numbers
    axis = alt.Axis(format="%") if percent else numbers
    scale = alt.Scale(zero=False, nice=False, type="symlog" if log else alt.Undefined)
    base = alt.Chart(inline(records)).encode(
        x=alt.X(f"{dim}:Q", title=title(dim), axis=axis, scale=scale),
        color=_colour(array, series[0], ordered) if series else alt.ColorValue(CATEGORIES[0]),
    )
    # Colour and shape: both, so that the figure also reads without colours.
    shape = {"shape": _by_series(array, series[0], alt.Shape)} if series and not ordered else {}
    y = alt.Y("value:Q", title=quantity(array), scale=alt.Scale(zero=False))
    layers: list[Any] = []
    if {"lower", "upper"} <= set(array.coords):
        layers.append(base.mark_area(opacity=0.18, aria=False).encode(y=alt.Y("lower:Q"), y2=alt.Y2("upper:Q")))
    layers.append(base.mark_line(strokeWidth=2.5, aria=False).encode(y=y))
    dots = base.mark_point(filled=True, size=48, opacity=1, aria=False)
    layers.append(dots.encode(y=y, tooltip=hover(array), **shape))
    if reference is not None:
        rule = alt.Chart(inline([{"reference": float(reference)}]))
        layers.append(rule.mark_rule(strokeDash=[5, 4], color=GREY, aria=False).encode(y=alt.Y("reference:Q")))
    chart = layered(*layers, width=width, height=height)
    return finished(chart, named(array), _description(array, dim))


def _colour(array: xr.DataArray, dim: str, ordered: bool) -> alt.Color:
    """The colour of each line; shades from light to dark where they have an order."""
    if not ordered:
        return _by_series(array, dim, alt.Color, list(CATEGORIES))
    values = array.dropna(dim, how="all")[dim].values.tolist()
    scale = alt.Scale(domain=values, range=shades(len(values)))
    return alt.Color(f"{dim}:O", scale=scale, legend=alt.Legend(title=title(dim), orient="right", symbolOpacity=1))


def _by_series(array: xr.DataArray, dim: str, channel: Any, values: list[str] | None = None) -> Any:
    words = in_words(array, dim)
    scale = alt.Scale(domain=words, range=values) if values else alt.Scale(domain=words)
    columns = 3 if sum(map(len, words)) > LEGEND_LETTERS else len(words)  # else a long row ends at the chart's edge
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1, columns=columns)
    return channel(f"{dim}:N", scale=scale, legend=legend)


def _description(array: xr.DataArray, dim: str) -> str:
    low, high = float(array[dim].min()), float(array[dim].max())
    least, most = float(array.min()), float(array.max())
    extent = f"{title(dim).lower()} {from_to(low, high)}"
    return f"Curve: {named(array)}, over {extent}. Values {from_to(least, most)}."
