"""Bars with 95% intervals; and stacked ones, what share each class has, as Figure 2 of Kovaleva et al. (2019)."""

from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.labels import from_to, label
from headscope.figures.theme import CATEGORIES, GREY, INK, finished, hover, layered, named, quantity
from headscope.figures.tidy import in_words, inline, rows

TICKS = 6  # about this many numbers at the axis
# Pixels of a bar, of one of several that stand together, and of all: with their gaps eight inches.
ALONE, TOGETHER, TALLEST = 20, 14, 600


def bars(array: xr.DataArray, *, width: int = 360) -> alt.Chart | alt.FacetChart | alt.LayerChart:
    """One bar for each value of the first dimension; a second colours them, a third gives panels.

    * `array`: one to three dimensions, else `ValueError`; see `with_interval`.
    * `width`: of a panel, in pixels.

    >>> array = xr.DataArray([0.1, 0.9], coords={"pattern": ["block", "diagonal"]}, name="share")
    >>> type(bars(array)).__name__
    'LayerChart'
    """
    dims = [str(dim) for dim in array.dims]
    if not 1 <= len(dims) <= 3:
        raise ValueError(f"bars: '{array.name}' has {len(dims)} dimensions; 1 to 3 can be drawn")
    base = alt.Chart(inline(rows(array))).encode(**_places(array, dims), tooltip=hover(array))
    layers = [
        base.mark_bar(aria=False).encode(
            x=alt.X("value:Q", title=quantity(array), axis=alt.Axis(tickCount=TICKS)), color=_colour(array, dims)
        )
    ]
    if {"lower", "upper"} <= set(array.coords):
        layers.append(
            base.mark_rule(color=INK, strokeWidth=1.5, aria=False).encode(x=alt.X("lower:Q"), x2=alt.X2("upper:Q"))
        )
    number = array.shape[0] * (array.shape[1] if len(dims) > 1 else 1)
    step = min(ALONE if len(dims) == 1 else TOGETHER, TALLEST / max(1, number))
    chart = layered(*layers, width=width, height=alt.Step(step))
    if len(dims) == 3:
        chart = chart.facet(alt.Facet(f"{dims[2]}:N", sort=in_words(array, dims[2]), title=None), columns=2)
    low, high = float(array.min()), float(array.max())
    return finished(chart, named(array), f"Bars: {named(array)}. Values {from_to(low, high)}.")


def _places(array: xr.DataArray, dims: list[str]) -> dict[str, Any]:
    encoding: dict[str, Any] = {
        "y": alt.Y(f"{dims[0]}:N", sort=in_words(array, dims[0]), title=None, axis=alt.Axis(labelLimit=240))
    }
    if len(dims) > 1:
        encoding["yOffset"] = alt.YOffset(f"{dims[1]}:N", sort=in_words(array, dims[1]))
    return encoding


def _colour(array: xr.DataArray, dims: list[str]) -> Any:
    if len(dims) == 1:
        return alt.ColorValue(CATEGORIES[0])
    words = in_words(array, dims[1])
    scale = alt.Scale(domain=words, range=list(CATEGORIES))
    return alt.Color(f"{dims[1]}:N", sort=words, scale=scale, legend=alt.Legend(title=None, orient="top"))


def stacked(
    array: xr.DataArray,
    *,
    first: str | None = None,
    band: tuple[float, float] | None = None,
    band_label: str = "",
    width: int = 520,
) -> alt.LayerChart:
    """One bar for each value of the first dimension, made of the shares of the second.

    * `array`: two dimensions, else `ValueError`; see `with_interval`.
    * `first`: the class at which bars begin, so that its ends can be compared; by default the first.
    * `band`: from where to where that class goes elsewhere, drawn over the bars; `band_label` says where.
    * `width`: of the whole bar, in pixels.

    >>> coords = {"task": ["rte"], "pattern": ["block", "diagonal"]}
    >>> len(stacked(xr.DataArray([[0.25, 0.75]], coords, name="share"), band=(0.1, 0.2)).layer)
    3
    """
    if array.ndim != 2:
        raise ValueError(f"stacked: '{array.name}' has {array.dims}; two dimensions can be drawn")
    down, across = map(str, array.dims)
    classes, bars = in_words(array, across), in_words(array, down)
    begin = label(across, first) if first else classes[0]
    order = {name: index for index, name in enumerate([begin, *(name for name in classes if name != begin)])}
    records = [row | {"place": order[row[across]]} for row in rows(array)]
    scale = alt.Scale(domain=classes, range=list(CATEGORIES))
    layers: list[alt.Chart] = [
        alt.Chart(inline(records))
        .mark_bar(aria=False, height={"band": 0.7})
        .encode(
            y=alt.Y(f"{down}:N", sort=bars, title=None, axis=alt.Axis(labelLimit=240, domain=False, ticks=False)),
            x=alt.X("value:Q", stack="zero", title=quantity(array), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(f"{across}:N", sort=classes, scale=scale, legend=alt.Legend(title=None, orient="top")),
            order=alt.Order("place:Q"),
            tooltip=hover(array),
        )
    ]
    layers += _band(band, band_label) if band else []
    words = f"Stacked bars of {len(bars)} by {len(classes)}: {named(array)}."
    return finished(layered(*layers, width=width, height=32 * len(bars)), named(array), words)


def _band(band: tuple[float, float], text: str) -> list[Any]:
    """Two dashed rules, and words below the bars that say what lies between them."""
    ends = alt.Chart(inline([{"end": end} for end in band]))
    rules = ends.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color="black", aria=False).encode(x=alt.X("end:Q"))
    middle = alt.Chart(inline([{"middle": sum(band) / 2, "text": text}]))
    words = middle.mark_text(baseline="bottom", dy=-4, color=GREY, fontSize=11, aria=False)
    return [rules, words.encode(x=alt.X("middle:Q"), y=alt.YValue(0), text=alt.Text("text:N"))]
