"""Charts by layer: of heads with the layer's mean, and grids of all layers.

Heads are drawn as in Figures 2 and 4 of Clark et al. (2019), scores of tasks as in Figure 5 of Rogers et al. (2020); in
a grid of numbers each row is shaded alone.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.labels import significant
from headscope.figures.theme import (
    CATEGORIES,
    GREY,
    INK,
    RULE,
    SEQUENTIAL,
    colours,
    conditional,
    extent,
    finished,
    hover,
    layered,
    named,
    quantity,
    ticks,
)
from headscope.figures.tidy import in_words, inline, number_or_none, others, rows


def by_layer(
    array: xr.DataArray, *, reference: float | None = None, reference_label: str = "", height: int = 260
) -> alt.LayerChart:
    """One dot for each head over its layer, and a line through the means of the layers.

    * `array`: dimensions layer, head and at most one more, which gives the series, else `ValueError`.
    * `reference`: a value to compare with, drawn as a dashed rule, none for NaN; `reference_label` says what it is.
    * `height`: of the plot, in pixels.

    >>> array = xr.DataArray([[0.1, 0.9]], coords={"layer": [1], "head": [1, 2]}, dims=["layer", "head"], name="x")
    >>> len(by_layer(array, reference=0.5).layer)
    4
    """
    reference, series = number_or_none(reference), others(array, "layer", "head")
    if len(series) > 1:
        raise ValueError(f"by_layer: '{array.name}' has {array.dims}; select one of {series} first")
    n_layers = array.sizes["layer"]
    top = max(extent(array)[1], reference or 0.0)
    look: dict[str, Any] = _series(array, series[0]) if series else {"color": alt.ColorValue(CATEGORIES[0])}
    base = alt.Chart(inline(rows(array))).encode(
        x=alt.X("layer:O", title="Layer", axis=alt.Axis(values=ticks(n_layers), labelAngle=0)), **look
    )
    scale = alt.Scale(domain=[extent(array)[0], top], nice=True)
    beside: dict[str, Any] = (
        {"xOffset": alt.XOffset(f"{series[0]}:N", sort=in_words(array, series[0]))} if series else {}
    )
    dots = base.mark_point(filled=True, size=34, opacity=0.5, aria=False).encode(
        **beside, y=alt.Y("value:Q", title=quantity(array), scale=scale), tooltip=hover(array)
    )
    means = base.mark_line(strokeWidth=2.5, aria=False).encode(y=alt.Y("mean(value):Q"))
    layers = [dots, means, *_rule(reference, reference_label)]
    chart = layered(*layers, width=max(560, min(780, 64 * n_layers)), height=height)
    return finished(chart, named(array), _description(array, reference, reference_label))


def _series(array: xr.DataArray, dim: str) -> dict[str, Any]:
    """Colour and shape of the series: both, so that the figure also reads without colours."""
    words = in_words(array, dim)
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1)
    return {
        "color": alt.Color(f"{dim}:N", scale=alt.Scale(domain=words, range=list(CATEGORIES)), legend=legend),
        "shape": alt.Shape(f"{dim}:N", scale=alt.Scale(domain=words), legend=legend),
    }


def _rule(reference: float | None, text: str) -> list[alt.Chart]:
    if reference is None:
        return []
    value = alt.Chart(inline([{"reference": float(reference), "text": text}]))
    rule = value.mark_rule(strokeDash=[5, 4], color=GREY, aria=False).encode(y=alt.Y("reference:Q"))
    words = value.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=GREY, aria=False)
    return [rule, words.encode(y=alt.Y("reference:Q"), x=alt.XValue(0), text=alt.Text("text:N"))]


def _description(array: xr.DataArray, reference: float | None, text: str) -> str:
    mean = array.mean(["head", *others(array, "layer", "head")])
    first, last = float(mean[0]), float(mean[-1])
    ends = f"The mean over heads goes from {significant(first)} in the first layer to {significant(last)} in the last."
    compared = "" if reference is None else f" A rule marks {significant(reference)}: {text}."
    return f"Dots of {array.sizes['head']} heads in {array.sizes['layer']} layers: {named(array)}. {ends}{compared}"


CELL = 22  # height in pixels


def layer_scores(
    array: xr.DataArray,
    marks: Mapping[str, float],
    mark: str,
    *,
    framed: Mapping[str, int],
    words: Mapping[str, str],
    width: int = 46,
    heading: str = "Score by layer, in per cent",
) -> alt.LayerChart:
    """One row for each task, one cell with its score for each layer; one is framed, a diamond marks a layer.

    * `array`: dimensions task and layer, layer 0 for the embeddings; see `with_interval`.
    * `marks`: by task, a place between layers; `mark`: its words.
    * `framed`: by task, a layer; `words`: the label of each task.
    * `width`: of a cell, in pixels; `heading`: the title.

    >>> axes = {"task": ["tense"], "layer": [0, 1]}
    >>> array = xr.DataArray([[0.5, 0.9]], axes, ["task", "layer"], name="score")
    >>> len(layer_scores(array, {"tense": 0.8}, "centre", framed={"tense": 1}, words={"tense": "Tense"}).layer)
    4
    """
    order = [words[task] for task in array["task"].values.tolist()]
    records = [
        row | {"key": task, "task": words[task], "text": f"{100 * row['value']:.0f}"}
        for task in array["task"].values.tolist()
        for row in rows(array.sel(task=[task]))
        if "value" in row
    ]
    chosen = [row for row in records if row["layer"] == framed[row["key"]]]
    layers = array["layer"].values.tolist()
    # Layers of a chart have scales of their own here, for the diamonds lie between the cells.
    axis, domain = alt.Axis(labelAngle=0, domain=False, ticks=False), alt.Scale(domain=layers)
    x = alt.X("layer:O", title="Layer (0: embeddings)" if 0 in layers else "Layer", axis=axis, scale=domain)
    above = alt.X("layer:O", axis=None, scale=domain)
    y = alt.Y("task:N", sort=order, title=None, axis=alt.Axis(labelLimit=240, domain=False, ticks=False))
    fill = alt.Color("value:Q", scale=colours(array, diverging=False, domain=(0, 1)), legend=None)
    cells = alt.Chart(inline(records)).mark_rect(stroke=RULE, strokeWidth=0.5, aria=False)
    frames = alt.Chart(inline(chosen)).mark_rect(fill=None, stroke=INK, strokeWidth=2, aria=False)
    ink = conditional(alt.ColorValue, "datum.value > 0.5", "white", INK)
    numbers = (
        alt.Chart(inline(records))
        .mark_text(fontSize=11, aria=False)
        .encode(x=above, y=y, text=alt.Text("text:N"), color=ink)
    )
    centres = [
        {"task": words[task], "centre": (centre - layers[0] + 0.5) * width, "at": round(centre, 2), "what": mark}
        for task, centre in marks.items()
        if np.isfinite(centre)
    ]
    scale = alt.Scale(domain=[0, width * len(layers)])
    diamonds = alt.Chart(inline(centres)).mark_point(
        shape="diamond", size=70, filled=True, color=CATEGORIES[1], opacity=1, stroke="white", yOffset=8, aria=False
    )
    hints = [alt.Tooltip("what:N", title="mark"), alt.Tooltip("at:Q", title="layer")]
    chart = alt.layer(
        cells.encode(x=x, y=y, color=fill, tooltip=hover(array)),
        frames.encode(x=above, y=y),
        numbers,
        diamonds.encode(x=alt.X("centre:Q", scale=scale, axis=None), y=y, tooltip=hints),
    ).resolve_scale(x="independent", color="independent")
    chart = chart.properties(width=width * len(layers), height=CELL * len(order))
    description = f"Grid of {len(order)} tasks by {len(layers)} layers: {named(array)}. Diamonds: {mark}."
    return finished(chart, heading, description)


WIDTH = 46
# Beyond this share of a row's range a cell is so dark that its text is white.
DARK = 0.55


def layer_grid(array: xr.DataArray, title: str) -> alt.Chart:
    """One cell for each number and layer, from white at the smallest of its row to dark at the largest.

    * `array`: [number, layer], with the coordinates `text` [number, layer], the words of each value, and `chosen`
      [number], the layer that is framed, -1 for none.

    >>> coords = {"number": ["root"], "layer": [1, 2], "text": (("number", "layer"), [["10%", "80%"]])}
    >>> coords["chosen"] = ("number", [2])
    >>> one = xr.DataArray([[0.1, 0.8]], coords, ("number", "layer"))
    >>> [cell["frame"] for cell in layer_grid(one, "Layers").data.values]
    [False, True]
    """
    names, layers = array["number"].values.tolist(), array["layer"].values.tolist()
    grid = (
        alt.Chart(inline(_cells(array)))
        .encode(
            x=alt.X("layer:O", sort=layers, title="Layer", axis=alt.Axis(orient="top", labelAngle=0, domain=False)),
            y=alt.Y("number:N", sort=names, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=320)),
            tooltip=["number:N", "layer:O", alt.Tooltip("text:N", title="value")],
        )
        .properties(width=WIDTH * len(layers), height=26 * len(names))
    )
    shades = alt.Scale(domain=np.linspace(0, 1.3, len(SEQUENTIAL)).tolist(), range=list(SEQUENTIAL), interpolate="rgb")
    cells = grid.mark_rect(aria=False).encode(color=alt.Color("share:Q", scale=shades, legend=None))
    frames = grid.transform_filter("datum.frame").mark_rect(fill=None, stroke=INK, strokeWidth=2, aria=False)
    white = conditional(alt.ColorValue, f"datum.share > {DARK}", "white", INK)
    texts = grid.mark_text(fontSize=11, aria=False).encode(text=alt.Text("text:N"), color=white)
    description = f"{title}: {len(names)} numbers of {len(layers)} layers; the table below has them."
    chart = alt.layer(cells, frames, texts, data=grid.data).properties(usermeta={"columns": len(layers)})
    return finished(chart, title, description)


def _cells(array: xr.DataArray) -> list[dict]:
    low, high = array.min("layer"), array.max("layer")
    shares = ((array - low) / (high - low).where(high > low, 1)).transpose("number", "layer")
    return [
        {
            "number": str(row["number"].item()),
            "layer": int(cell["layer"]),
            "share": float(cell),
            "text": str(cell["text"].item()),
            "frame": int(cell["layer"]) == int(row["chosen"]),
        }
        for row in shares
        for cell in row
        if np.isfinite(cell)
    ]
