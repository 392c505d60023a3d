"""Heatmaps: of layers by heads, layer 1 on top as in Kovaleva et al. (2019); of classes; of any two dimensions."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import xarray as xr

from headscope.figures.labels import from_to, head_name, label, title
from headscope.figures.theme import (
    CATEGORIES,
    DIVERGING,
    RULE,
    SEQUENTIAL,
    colours,
    conditional,
    extent,
    finished,
    hover,
    is_signed,
    named,
    quantity,
    ticks,
)
from headscope.figures.tidy import in_words, inline, others, rows


def heatmap(
    array: xr.DataArray,
    *,
    diverging: bool | None = None,
    shared: bool = True,
    domain: tuple[float, float] | None = None,
    columns: int | None = None,
) -> alt.Chart | alt.FacetChart:
    """One cell for each head; a third dimension gives small multiples.

    Hovering shows a head's value, interval and number of examples, and marks the same head in every panel.

    * `array`: dimensions layer, head and at most one more; see `with_interval`.
    * `diverging`: colours around white at 0; by default where there are negative values.
    * `shared`: one colour scale for all panels; otherwise each panel has its own.
    * `domain`: the ends of the colour scale; by default those of the values, with 0.
    * `columns`: panels in a row; by default 3 or 4, whichever leaves fewer gaps.

    Raises `ValueError` for other dimensions.

    >>> array = xr.DataArray([[0.1, 0.9]], coords={"layer": [1], "head": [1, 2]}, dims=["layer", "head"], name="x")
    >>> type(heatmap(array)).__name__
    'Chart'
    """
    panels = others(array, "layer", "head")
    if len(panels) > 1:
        raise ValueError(f"heatmap: '{array.name}' has {array.dims}; select one of {panels} first")
    diverging = is_signed(array) if diverging is None else diverging
    chart = _cells(array, _scale(array, diverging, shared, domain), small=bool(panels))
    if panels:
        words = in_words(array, panels[0])
        facet = alt.Facet(f"{panels[0]}:N", sort=words, title=None)
        chart = chart.facet(facet, columns=columns or _columns(len(words)))
        chart = chart.resolve_scale(color="shared" if shared else "independent")
    return finished(chart, named(array), _description(array))


def _cells(array: xr.DataArray, scale: alt.Scale, small: bool) -> alt.Chart:
    """The cells of one panel; they grow smaller as the heads grow many."""
    n_layers, n_heads = array.sizes["layer"], array.sizes["head"]
    cell = max(6, min(16, 208 // n_heads)) if small else max(9, min(28, 384 // n_heads))
    same_head = alt.selection_point(fields=["layer", "head"], on="pointerover", clear="pointerout", empty=False)
    legend = alt.Legend(title=quantity(array), orient="right", gradientLength=140, tickCount=5)
    return (
        alt.Chart(inline(rows(array)))
        .mark_rect(aria=False)
        .encode(
            x=alt.X("head:O", title="Head", axis=_axis(n_heads)),
            y=alt.Y("layer:O", title="Layer", axis=_axis(n_layers)),
            color=alt.Color("value:Q", scale=scale, legend=legend),
            stroke=conditional(alt.StrokeValue, same_head, "#d55e00", RULE),
            strokeWidth=conditional(alt.StrokeWidthValue, same_head, 2.5, 0.5),
            tooltip=hover(array),
        )
        .properties(width=cell * n_heads, height=cell * n_layers)
        .add_params(same_head)
    )


def _columns(panels: int) -> int:
    return panels if panels < 4 else min((4, 3), key=lambda columns: -panels % columns)


def _axis(count: int) -> alt.Axis:
    return alt.Axis(values=ticks(count), labelAngle=0, domain=False, ticks=False)


def _scale(array: xr.DataArray, diverging: bool, shared: bool, domain: tuple[float, float] | None) -> alt.Scale:
    if shared or domain:
        return colours(array, diverging=diverging, domain=domain)
    if diverging:
        return alt.Scale(range=[DIVERGING[0], "white", DIVERGING[-1]], domainMid=0, interpolate="lab")
    return alt.Scale(range=["white", SEQUENTIAL[-2]], domainMin=0, interpolate="lab")


def _description(array: xr.DataArray) -> str:
    panels = others(array, "layer", "head")
    by_panel = f", one panel for each {panels[0].replace('_', ' ')}" if panels else ""
    size = f"{array.sizes['layer']} layers by {array.sizes['head']} heads"
    low, high = float(array.min()), float(array.max())
    return f"Heatmap of {size}{by_panel}: {named(array)}. Values {from_to(low, high)}."


def classes(
    array: xr.DataArray, *, names: Sequence[str], dim: str, colours: Sequence[str] = CATEGORIES
) -> alt.Chart | alt.FacetChart:
    """One cell for each head, coloured by its class; a third dimension gives small multiples.

    * `array`: names of classes ("" for a head that is not there), dimensions layer, head and at most one more.
    * `names`: all classes in the order of their `colours`; `dim`: the dimension that they are labels of.

    Raises `ValueError` for other dimensions.

    >>> coords = {"layer": [1], "head": [1, 2]}
    >>> array = xr.DataArray([["block", "diagonal"]], coords, name="dominant")
    >>> classes(array, names=["block", "diagonal"], dim="pattern").data.values[0]
    {'layer': 1, 'head': 1, 'class': 'near-even block', 'name': '1-1'}
    """
    panels = others(array, "layer", "head")
    if len(panels) > 1:
        raise ValueError(f"classes: '{array.name}' has {array.dims}; select one of {panels} first")
    words = [label(dim, name) for name in names]
    n_layers, n_heads = array.sizes["layer"], array.sizes["head"]
    cell = max(6, min(16, 208 // n_heads)) if panels else max(9, min(28, 384 // n_heads))
    chart = (
        alt.Chart(inline(_records(array, panels, dim)))
        .mark_rect(aria=False, stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("head:O", title="Head", axis=_axis(n_heads)),
            y=alt.Y("layer:O", title="Layer", axis=_axis(n_layers)),
            color=alt.Color("class:N", scale=alt.Scale(domain=words, range=list(colours)), title=None),
            tooltip=[
                alt.Tooltip("name:N", title="head"),
                alt.Tooltip("class:N", title=dim),
                *(alt.Tooltip(f"{panel}:N") for panel in panels),
            ],
        )
        .properties(width=cell * n_heads, height=cell * n_layers)
    )
    if panels:
        order = [label(panels[0], value) for value in array[panels[0]].values.tolist()]
        chart = chart.facet(alt.Facet(f"{panels[0]}:N", sort=order, title=None), columns=3)
    counts = {word: int((array == name).sum()) for word, name in zip(words, names, strict=True)}
    totals = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return finished(chart, named(array), f"{named(array)}: {totals}.")


def _records(array: xr.DataArray, panels: list[str], dim: str) -> list[dict]:
    frame = array.drop_vars(set(array.coords) - set(array.dims)).to_dataframe(name="class").reset_index()
    frame = frame.loc[frame["class"] != ""]
    frame["name"] = list(map(head_name, frame["layer"], frame["head"]))
    frame["class"] = [label(dim, name) for name in frame["class"]]
    for panel in panels:
        frame[panel] = [label(panel, value) for value in frame[panel]]
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


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
