"""Bars with 95% intervals."""

from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.theme import CATEGORIES, INK, finished, hover, named, quantity
from headscope.figures.tidy import in_words, inline, rows

TICKS = 6  # about so many numbers at the axis


def bars(array: xr.DataArray, *, width: int = 360) -> alt.Chart | alt.FacetChart | alt.LayerChart:
    """One bar for each value of the first dimension; a second colours them, a third gives panels.

    * `array`: one to three dimensions; see `with_interval`.
    * `width`: of a panel, in pixels.

    Raises `ValueError` for other numbers of dimensions.

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
    chart = alt.layer(*layers).properties(width=width)
    if len(dims) == 3:
        chart = chart.facet(alt.Facet(f"{dims[2]}:N", sort=in_words(array, dims[2]), title=None), columns=2)
    low, high = float(array.min()), float(array.max())
    return finished(chart, named(array), f"Bars: {named(array)}. Values from {low:.3g} to {high:.3g}.")


def _places(array: xr.DataArray, dims: list[str]) -> dict[str, Any]:
    places: dict[str, Any] = {
        "y": alt.Y(f"{dims[0]}:N", sort=in_words(array, dims[0]), title=None, axis=alt.Axis(labelLimit=240))
    }
    if len(dims) > 1:
        places["yOffset"] = alt.YOffset(f"{dims[1]}:N", sort=in_words(array, dims[1]))
    return places


def _colour(array: xr.DataArray, dims: list[str]) -> Any:
    if len(dims) == 1:
        return alt.ColorValue(CATEGORIES[0])
    words = in_words(array, dims[1])
    scale = alt.Scale(domain=words, range=list(CATEGORIES))
    return alt.Color(f"{dims[1]}:N", sort=words, scale=scale, legend=alt.Legend(title=None, orient="top"))
