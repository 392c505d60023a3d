"""Numbers of all layers in one grid: numbers from top to bottom, layers from left to right, each row shaded alone."""

import altair as alt
import numpy as np
import xarray as xr

from headscope.figures.theme import INK, SEQUENTIAL, conditional, finished
from headscope.figures.tidy import inline

CELL = 46
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
        .properties(width=CELL * len(layers), height=26 * len(names))
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
