"""Heads by their class, layer 1 on top: which kind each head is."""

from collections.abc import Sequence

import altair as alt
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.figures.theme import CATEGORIES, finished, named, ticks
from headscope.figures.tidy import inline, others


def classes(array: xr.DataArray, *, names: Sequence[str], dim: str) -> alt.Chart | alt.FacetChart:
    """One cell for each head, coloured by its class; a third dimension gives small multiples.

    * `array`: names of classes ("" for a head that is not there), dimensions layer, head and at most one more.
    * `names`: all classes in the order of their colours; `dim`: the dimension that they are labels of.

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
            color=alt.Color("class:N", scale=alt.Scale(domain=words, range=list(CATEGORIES)), title=None),
            tooltip=[
                alt.Tooltip("name:N", title="head"),
                alt.Tooltip("class:N", title=dim),
                *(alt.Tooltip(f"{one}:N") for one in panels),
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


def _axis(count: int) -> alt.Axis:
    return alt.Axis(values=ticks(count), labelAngle=0, domain=False, ticks=False)
