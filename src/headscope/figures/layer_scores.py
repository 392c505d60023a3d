"""Scores of tasks by layer as a grid, with a mark on each row, as Figure 5 of Rogers et al. (2020)."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.theme import CATEGORIES, INK, RULE, colours, conditional, finished, hover, named
from headscope.figures.tidy import inline, rows

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
        {"task": words[task], "centre": (place - layers[0] + 0.5) * width, "at": round(place, 2), "what": mark}
        for task, place in marks.items()
        if np.isfinite(place)
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
