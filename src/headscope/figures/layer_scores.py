"""Grids of all layers: scores of tasks, as Figure 5 of Rogers et al. (2020), and numbers, each row shaded alone."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.theme import CATEGORIES, INK, RULE, SEQUENTIAL, colours, conditional, finished, hover, named
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
    """One cell for each number and layer, from white at the least of its row to dark at the most; chosen ones framed.

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
