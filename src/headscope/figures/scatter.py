"""Heads as points of a plane, such as their embedding by similarity (Clark et al. 2019, Figure 6)."""

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.theme import CATEGORIES, GREY, SEQUENTIAL, finished, named
from headscope.figures.tidy import inline, others, rows

# Labels of more heads than these would hide each other.
LABELLED = 8


def scatter(
    array: xr.DataArray,
    *,
    colour: xr.DataArray | None = None,
    names: xr.DataArray | None = None,
    side: int = 480,
    titles: tuple[str, str] = ("First axis", "Second axis"),
    plane: bool = False,
) -> alt.LayerChart:
    """One point for each head, coloured by layer or by a class of heads.

    * `array`: dimensions layer, head and axis, of which the first two values are drawn, else `ValueError`.
    * `colour`: a class for each layer and head; by default the layer.
    * `names`: the label of each layer and head, "" for none; by default those of the heads that stand out.
    * `side`: of the plot, its width, in pixels; `titles`: of its axes.
    * `plane`: one scale for both axes, so that distances are seen as they are.

    >>> dims = ["layer", "head", "axis"]
    >>> points = xr.DataArray([[[0.0, 1.0]]], coords={"layer": [8], "head": [10]}, dims=dims, name="embedding")
    >>> scatter(points).data.values[0]
    {'layer': 8, 'head': 10, 'value': 0.0, 'name': '8-10', 'second': 1.0, 'label': '8-10'}
    """
    if others(array, "layer", "head", "axis") or array.sizes["axis"] < 2:
        raise ValueError(f"scatter: '{array.name}' has {dict(array.sizes)}; layer, head and two axes are needed")
    height, scales = side, [alt.Scale(zero=False)] * 2
    if plane:
        spans = _spans(array)
        height, scales = side * spans[1] / spans[0], [_scale(array.isel(axis=axis), spans[axis]) for axis in (0, 1)]
    base = alt.Chart(inline(_points(array, colour, names))).encode(
        x=alt.X("value:Q", title=titles[0], scale=scales[0]), y=alt.Y("second:Q", title=titles[1], scale=scales[1])
    )
    hover = [alt.Tooltip("name:N", title="head")] + ([alt.Tooltip("class:N")] if colour is not None else [])
    dots = base.mark_point(filled=True, size=70, stroke=GREY, strokeWidth=0.5, opacity=0.85, aria=False)
    layers = [dots.encode(color=_colour(colour), tooltip=hover)]
    layers.append(base.mark_text(dy=-9, fontSize=10, aria=False).encode(text=alt.Text("label:N")))
    count = array.sizes["layer"] * array.sizes["head"]
    description = f"{count} heads as points: {named(array)}. Heads near each other are similar."
    chart = alt.layer(*layers).properties(width=side, height=height)
    chart = chart.properties(usermeta={"shape": "kept"}) if plane else chart
    return finished(chart, named(array), description)


def _points(array: xr.DataArray, colour: xr.DataArray | None, names: xr.DataArray | None) -> list[dict]:
    """The rows of the first axis with the second axis, the class and the label beside it."""
    first = array.isel(axis=0, drop=True)
    points, remote = rows(first), _remote(array)
    for point in points:
        head = {"layer": point["layer"], "head": point["head"]}
        point["second"] = float(array.isel(axis=1).sel(head))
        if colour is not None:
            point["class"] = str(colour.sel(head).item())
        if names is None:
            point["label"] = point["name"] if bool(remote.sel(head)) else ""
        else:
            point["label"] = str(names.sel(head).item())
    return points


def _remote(array: xr.DataArray) -> xr.DataArray:
    """True for the few heads [layer, head] furthest from the median of both axes."""
    both = array.isel(axis=[0, 1])
    spread = (both.max(("layer", "head")) - both.min(("layer", "head"))).clip(min=1e-12)
    distance = (((both - both.median(("layer", "head"))) / spread) ** 2).sum("axis", skipna=False)
    limit = np.sort(distance.values[np.isfinite(distance.values)])[-LABELLED:]
    return distance >= (limit[0] if limit.size else np.inf)


def _spans(array: xr.DataArray) -> tuple[float, float]:
    """The ranges of both axes, with some room; neither is less than a third of the other."""
    both = array.isel(axis=[0, 1]).stack(point=("layer", "head"))
    first, second = (1.1 * (both.max("point") - both.min("point"))).values.tolist()
    return max(first, second / 3) or 1.0, max(second, first / 3) or 1.0


def _scale(values: xr.DataArray, span: float) -> alt.Scale:
    middle = float(values.max() + values.min()) / 2
    return alt.Scale(domain=[middle - span / 2, middle + span / 2], nice=False, zero=False)


def _colour(colour: xr.DataArray | None) -> alt.Color:
    if colour is None:
        visible = alt.Scale(range=list(SEQUENTIAL[3:]))  # on white, and on the dark page
        return alt.Color("layer:Q", title="Layer", scale=visible, legend=alt.Legend(tickMinStep=1))
    return alt.Color("class:N", title=str(colour.name or "Class"), scale=alt.Scale(range=list(CATEGORIES)))
