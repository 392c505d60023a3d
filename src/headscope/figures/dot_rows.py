"""Rows of dots: of several series, the first with its 95% interval; and of one head among all heads."""

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.labels import from_to, head_name, significant
from headscope.figures.theme import CATEGORIES, GREY, INK, finished, hover, layered, named, quantity
from headscope.figures.tidy import in_words, inline, rows, tidy

# The second series, a baseline, is an upright stroke.
SHAPES = ("circle", "M0,-1L0,1", "diamond", "square", "triangle-up", "triangle-down", "cross")
HEIGHT = 20


def dot_rows(array: xr.DataArray, *, width: int = 420) -> alt.LayerChart:
    """Dots of the series, the second dimension, in a row for each label of the first.

    * `array`: two dimensions, else `ValueError`; the interval of the first series is drawn, see `with_interval`.

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
    encodings = {
        "x": alt.X("value:Q", title=quantity(array), scale=alt.Scale(domain=[0, 1])),
        "y": y,
        "color": alt.Color(f"{series}:N", scale=alt.Scale(domain=names, range=colours[: len(names)]), legend=legend),
        "shape": alt.Shape(
            f"{series}:N", scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])), legend=legend
        ),
        "tooltip": hover(array),
    }
    first = inline(rows(array.isel({series: [0]})))
    dots = alt.Chart(inline(rows(array))).mark_point(size=60, strokeWidth=1.8, aria=False)
    layers = [
        dots.encode(**encodings),
        alt.Chart(first).mark_point(filled=True, size=70, aria=False).encode(**encodings),
    ]
    if {"lower", "upper"} <= set(array.coords):
        rule = alt.Chart(first).mark_rule(color=INK, strokeWidth=1.5, aria=False)
        layers.insert(0, rule.encode(x=alt.X("lower:Q"), x2=alt.X2("upper:Q"), y=y))
    low, high = float(array[:, 0].min()), float(array[:, 0].max())
    description = f"Rows of dots: {named(array)}. {names[0].capitalize()} {from_to(low, high)}."
    chart = layered(*layers, width=width, height=alt.Step(HEIGHT))
    return finished(chart, named(array), description)


def among(arrays: Mapping[str, xr.DataArray], layer: int, head: int, *, width: int = 420) -> alt.LayerChart:
    """A line for each number, from the lowest to the highest head; one head stands out, its value is written.

    * `arrays`: by name, dimensions layer and head; coordinates lower and upper where there are intervals.

    Raises `ValueError` if there is no array, or the head has no value in one.

    >>> axes = {"layer": [1], "head": [1, 2, 3]}
    >>> entropy = xr.DataArray([[1.0, 3.0, 2.0]], axes, ["layer", "head"])
    >>> [(row["name"], row["place"]) for row in among({"entropy": entropy}, 1, 3).layer[0].data.values]
    [('1-1', 0.0), ('1-2', 1.0), ('1-3', 0.5)]
    """
    if not arrays or any(bool(array.sel(layer=layer, head=head).isnull()) for array in arrays.values()):
        raise ValueError(f"among: head {head_name(layer, head)} has no value in one of {list(arrays)}")
    rows = [row for name, array in arrays.items() for row in _placed(name, array)]
    chosen = [row for row in rows if row["name"] == head_name(layer, head)]
    y = alt.Y("number:N", sort=list(arrays), title=None, axis=alt.Axis(labelLimit=300, domain=False, ticks=False))
    x = alt.X("place:Q", title="lowest head to highest head", axis=alt.Axis(labels=False, ticks=False, grid=False))
    hover = [alt.Tooltip("name:N", title="head"), alt.Tooltip("number:N"), alt.Tooltip("value:Q", format=".4f")]
    heads = alt.Chart(inline(rows)).mark_tick(color=GREY, opacity=0.45, thickness=1.5, size=14, aria=False)
    mine = alt.Chart(inline(chosen)).encode(y=y)
    layers = [
        heads.encode(x=x, y=y, tooltip=hover),
        mine.mark_rule(color=CATEGORIES[1], strokeWidth=3, aria=False).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")),
        mine.mark_point(filled=True, size=90, color=CATEGORIES[1], opacity=1, aria=False).encode(x=x, tooltip=hover),
        mine.mark_text(align="left", dx=8, aria=False).encode(x=alt.XValue(width), text=alt.Text("words:N")),
    ]
    name = head_name(layer, head)
    values = "; ".join(f"{row['number']} {row['words']}" for row in chosen)
    description = f"Head {name} among all heads: {values}."
    chart = layered(*layers, width=width, height=alt.Step(26))
    return finished(chart, f"Head {name} among all heads", description)


def _placed(name: str, array: xr.DataArray) -> Iterator[dict[str, Any]]:
    """The heads of one number, placed between the lowest (0) and the highest (1)."""
    frame = tidy(array)
    low, far = float(array.min()), float(array.max() - array.min())
    rank = frame["value"].rank(ascending=False, method="min").astype(int)
    for row, at in zip(frame.to_dict("records"), rank, strict=True):
        given = {"from": row.get("lower"), "to": row.get("upper"), "place": row["value"]}
        there = {key: value for key, value in given.items() if value is not None and np.isfinite(value)}
        placed = {key: (value - low) / far if far else 0.5 for key, value in there.items()}
        words = {"number": name, "name": head_name(row["layer"], row["head"])}
        rank = f"{significant(row['value'])} (rank {at} of {len(frame)})"
        yield placed | words | {"value": row["value"], "words": rank}
