"""Matrix of any two dimensions, or of pairs of heads."""

from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.labels import from_to, head_name, title
from headscope.figures.theme import colours, extent, finished, hover, is_signed, named, quantity
from headscope.figures.tidy import in_words, inline, rows

SHORT = 2  # letters of a label that is not turned
HEAD_PAIRS = ("layer", "head", "other_layer", "other_head")


def matrix(array: xr.DataArray, *, diverging: bool | None = None, side: int = 420) -> alt.Chart:
    """One cell for each pair of values of two dimensions, the first from top to bottom.

    * `array`: two dimensions, or the four of pairs of heads (layer, head, other_layer, other_head), else `ValueError`.
    * `diverging`: colours around white at 0; by default where there are negative values.
    * `side`: about how large the longer side is, in pixels.

    >>> coords = {"task": ["rte"], "init": ["random", "frozen"]}
    >>> matrix(xr.DataArray([[1.0, 2.0]], coords, dims=["task", "init"], name="score")).encoding.y.shorthand
    'task:N'
    """
    (down, down_words), (across, across_words) = _axes(array)
    cell = max(2, min(36, side // max(len(down_words), len(across_words))))
    low, high = extent(array)
    signed = is_signed(array) if diverging is None else diverging
    look: dict[str, Any] = {"labelOverlap": True, "domain": False, "ticks": False, "labelLimit": 160}
    upright: dict[str, Any] = {"labelAngle": 0} if max(map(len, across_words)) <= SHORT else {}
    chart = (
        alt.Chart(inline(rows(array)))
        .mark_rect(aria=False)
        .encode(
            x=alt.X(f"{across}:N", sort=across_words, title=_title(across), axis=alt.Axis(**look, **upright)),
            y=alt.Y(f"{down}:N", sort=down_words, title=_title(down), axis=alt.Axis(**look)),
            color=alt.Color(
                "value:Q", scale=colours(array, diverging=signed), legend=alt.Legend(title=quantity(array))
            ),
            tooltip=hover(array),
        )
        .properties(width=cell * len(across_words), height=cell * len(down_words))
    )
    size = f"{len(down_words)} by {len(across_words)}"
    return finished(chart, named(array), f"Matrix of {size}: {named(array)}. Values {from_to(low, high)}.")


def _axes(array: xr.DataArray) -> list[tuple[str, list[str]]]:
    """The two axes: the field of the rows and its values in order."""
    dims = [str(dim) for dim in array.dims]
    if len(dims) == 2:
        return [(dim, in_words(array, dim)) for dim in dims]
    if set(dims) != set(HEAD_PAIRS):
        raise ValueError(f"matrix: '{array.name}' has {array.dims}; two dimensions or {HEAD_PAIRS} can be drawn")
    return [("name", _heads(array, "layer", "head")), ("other_name", _heads(array, "other_layer", "other_head"))]


def _heads(array: xr.DataArray, layer: str, head: str) -> list[str]:
    return [
        head_name(first, second) for first in array[layer].values.tolist() for second in array[head].values.tolist()
    ]


def _title(field: str) -> str:
    return {"name": "Head", "other_name": "Other head"}.get(field) or title(field)
