"""Heads as points of a plane, such as their embedding by similarity (Clark et al. 2019, Figure 6)."""

import altair as alt
import xarray as xr

from headscope.figures._table import inline, others, rows
from headscope.figures._theme import CATEGORIES, SEQUENTIAL, finished, named


def scatter(
    array: xr.DataArray,
    *,
    colour: xr.DataArray | None = None,
    names: xr.DataArray | None = None,
    side: int = 480,
    titles: tuple[str, str] = ("First axis", "Second axis"),
) -> alt.LayerChart:
    """One point for each head, coloured by layer or by a class of heads.

    * `array`: dimensions layer, head and axis, of which the first two values are drawn.
    * `colour`: a class for each layer and head; by default the layer.
    * `names`: the label of each layer and head; by default the head.
    * `side`: of the plot, in pixels.
    * `titles`: of its axes.

    Raises `ValueError` for other dimensions or fewer than two axes.

    >>> dims = ["layer", "head", "axis"]
    >>> points = xr.DataArray([[[0.0, 1.0]]], coords={"layer": [8], "head": [10]}, dims=dims, name="embedding")
    >>> scatter(points).data.values
    [{'layer': 8, 'head': 10, 'value': 0.0, 'name': '8-10', 'second': 1.0}]
    """
    if others(array, "layer", "head", "axis") or array.sizes["axis"] < 2:
        raise ValueError(f"scatter: '{array.name}' has {dict(array.sizes)}; layer, head and two axes are needed")
    base = alt.Chart(inline(_points(array, colour, names))).encode(
        x=alt.X("value:Q", title=titles[0], scale=alt.Scale(zero=False)),
        y=alt.Y("second:Q", title=titles[1], scale=alt.Scale(zero=False)),
    )
    shown = [alt.Tooltip("name:N", title="head")] + ([alt.Tooltip("class:N")] if colour is not None else [])
    layers = [base.mark_point(filled=True, size=70, aria=False).encode(color=_colour(colour), tooltip=shown)]
    layers.append(base.mark_text(dy=-9, fontSize=9, aria=False).encode(text="name:N" if names is None else "label:N"))
    description = f"{array.sizes['layer'] * array.sizes['head']} heads as points: {named(array)}. Near heads are alike."
    return finished(alt.layer(*layers).properties(width=side, height=side), named(array), description)


def _points(array: xr.DataArray, colour: xr.DataArray | None, names: xr.DataArray | None) -> list[dict]:
    """The rows of the first axis with the second axis, the class and the label beside it."""
    first = array.isel(axis=0, drop=True)
    points = rows(first)
    for point in points:
        place = {"layer": point["layer"], "head": point["head"]}
        point["second"] = float(array.isel(axis=1).sel(place))
        if colour is not None:
            point["class"] = str(colour.sel(place).item())
        if names is not None:
            point["label"] = str(names.sel(place).item())
    return points


def _colour(colour: xr.DataArray | None) -> alt.Color:
    if colour is None:
        return alt.Color("layer:Q", title="Layer", scale=alt.Scale(scheme=SEQUENTIAL), legend=alt.Legend(tickMinStep=1))
    return alt.Color("class:N", title=str(colour.name or "Class"), scale=alt.Scale(range=list(CATEGORIES)))
