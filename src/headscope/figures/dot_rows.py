"""A row for each label: dots of several series, the first with its 95% interval."""

import altair as alt
import xarray as xr

from headscope.figures.theme import CATEGORIES, GREY, INK, finished, hover, named, quantity
from headscope.figures.tidy import in_words, inline, rows

# The second series, a baseline, is an upright stroke.
SHAPES = ("circle", "M0,-1L0,1", "diamond", "square", "triangle-up", "triangle-down")
HEIGHT = 20


def dot_rows(array: xr.DataArray, *, width: int = 420) -> alt.LayerChart:
    """Dots of the series, the second dimension, in a row for each label of the first.

    * `array`: two dimensions; the interval of the first series is drawn, see `with_interval`.
    * `width`: of the rows, in pixels.

    Raises `ValueError` for another number of dimensions.

    >>> axes = {"phenomenon": ["binding", "ellipsis"], "series": ["model", "chance"]}
    >>> type(dot_rows(xr.DataArray([[0.75, 0.5], [1.0, 0.5]], axes, list(axes), name="accuracy"))).__name__
    'LayerChart'
    """
    if array.ndim != 2:
        raise ValueError(f"dot_rows: '{array.name}' has {array.ndim} dimensions; 2 can be drawn")
    row, series = map(str, array.dims)
    names = in_words(array, series)
    y = alt.Y(f"{row}:N", sort=in_words(array, row), title=None, axis=alt.Axis(labelLimit=260, grid=True))
    legend = alt.Legend(title=None, orient="top", columns=3, symbolSize=90)
    colours = [CATEGORIES[0], GREY, *CATEGORIES[1:]]
    places = {
        "x": alt.X("value:Q", title=quantity(array), scale=alt.Scale(domain=[0, 1])),
        "y": y,
        "color": alt.Color(f"{series}:N", scale=alt.Scale(domain=names, range=colours[: len(names)]), legend=legend),
        "shape": alt.Shape(
            f"{series}:N", scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])), legend=legend
        ),
        "tooltip": hover(array),
    }
    first = inline(rows(array.isel({series: [0]})))
    every = alt.Chart(inline(rows(array))).mark_point(size=60, strokeWidth=1.8, aria=False)
    layers = [every.encode(**places), alt.Chart(first).mark_point(filled=True, size=70, aria=False).encode(**places)]
    if {"lower", "upper"} <= set(array.coords):
        rule = alt.Chart(first).mark_rule(color=INK, strokeWidth=1.5, aria=False)
        layers.insert(0, rule.encode(x=alt.X("lower:Q"), x2=alt.X2("upper:Q"), y=y))
    low, high = float(array[:, 0].min()), float(array[:, 0].max())
    description = f"Rows of dots: {named(array)}. {names[0].capitalize()} from {low:.3g} to {high:.3g}."
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(HEIGHT))
    return finished(chart, named(array), description)
