"""One head among all heads, number by number."""

from collections.abc import Iterator, Mapping
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.figures.theme import CATEGORIES, GREY, finished
from headscope.figures.tidy import inline, tidy


def among(arrays: Mapping[str, xr.DataArray], layer: int, head: int, *, width: int = 420) -> alt.LayerChart:
    """A line for each number, from the lowest to the highest head; one head stands out, its value is written.

    * `arrays`: by name, dimensions layer and head; coordinates lower and upper where there are intervals.
    * `width`: of the lines, in pixels.

    Raises `ValueError` if there is no array, or the head has no value in one.

    >>> axes = {"layer": [1], "head": [1, 2, 3]}
    >>> entropy = xr.DataArray([[1.0, 3.0, 2.0]], axes, ["layer", "head"])
    >>> [(row["name"], row["place"]) for row in among({"entropy": entropy}, 1, 3).layer[0].data.values]
    [('1-1', 0.0), ('1-2', 1.0), ('1-3', 0.5)]
    """
    if not arrays or any(bool(array.sel(layer=layer, head=head).isnull()) for array in arrays.values()):
        raise ValueError(f"among: head {head_name(layer, head)} has no value in one of {list(arrays)}")
    rows = [row for name, array in arrays.items() for row in _rows(name, array)]
    own = [row for row in rows if row["name"] == head_name(layer, head)]
    y = alt.Y("number:N", sort=list(arrays), title=None, axis=alt.Axis(labelLimit=300, domain=False, ticks=False))
    x = alt.X("place:Q", title="lowest head to highest head", axis=alt.Axis(labels=False, ticks=False, grid=False))
    hover = [alt.Tooltip("name:N", title="head"), alt.Tooltip("number:N"), alt.Tooltip("value:Q", format=".4f")]
    heads = alt.Chart(inline(rows)).mark_tick(color=GREY, opacity=0.45, thickness=1.5, size=14, aria=False)
    mine = alt.Chart(inline(own)).encode(y=y)
    layers = [
        heads.encode(x=x, y=y, tooltip=hover),
        mine.mark_rule(color=CATEGORIES[1], strokeWidth=3, aria=False).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")),
        mine.mark_point(filled=True, size=90, color=CATEGORIES[1], opacity=1, aria=False).encode(x=x, tooltip=hover),
        mine.mark_text(align="left", dx=8, aria=False).encode(x=alt.XValue(width), text=alt.Text("words:N")),
    ]
    name = head_name(layer, head)
    values = "; ".join(f"{row['number']} {row['words']}" for row in own)
    description = f"Head {name} among all heads: {values}."
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(26))
    return finished(chart, f"Head {name} among all heads", description)


def _rows(name: str, array: xr.DataArray) -> Iterator[dict[str, Any]]:
    """The heads of one number, placed between the lowest (0) and the highest (1)."""
    frame = tidy(array)
    low, far = float(array.min()), float(array.max() - array.min())
    rank = frame["value"].rank(ascending=False, method="min").astype(int)
    for row, at in zip(frame.to_dict("records"), rank, strict=True):
        given = {"from": row.get("lower"), "to": row.get("upper"), "place": row["value"]}
        placed = {key: (value - low) / far if far else 0.5 for key, value in given.items() if _is_finite(value)}
        words = {"number": name, "name": head_name(row["layer"], row["head"])}
        yield placed | words | {"value": row["value"], "words": f"{row['value']:.3g} (rank {at} of {len(frame)})"}


def _is_finite(value: Any) -> bool:
    return value is not None and bool(np.isfinite(value))
