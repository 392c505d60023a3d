"""Attention maps as images with the tokens at their sides: charts of any length stay small."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from headscope.figures.map_image import map_image
from headscope.figures.theme import GREY, RULE, finished
from headscope.figures.tidy import inline

CELL, SIDE = 14, 600  # pixels of a cell of a labelled map; of the side of a map without labels
LABELLED = 128


def attention_images(
    maps: Mapping[str, Float[np.ndarray, "query key"]], queries: Sequence[str], keys: Sequence[str], title: str
) -> alt.HConcatChart:
    """Maps side by side, queries from top to bottom, each in shades of its own largest value, which its title states.

    * `maps`: attention by the name of a head; `queries`, `keys`: the texts of its rows and columns.

    >>> attention_images({"8-10": np.eye(2)}, ["a", "b"], ["a", "b"], "Maps").hconcat[0].title.text
    '8-10, up to 1.00'
    """
    charts = [_map(name, weights, queries, keys) for name, weights in maps.items()]
    return finished(alt.hconcat(*charts, spacing=40), title, f"{title}: maps of the tokens {' '.join(queries)}")


def _map(
    name: str, weights: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str]
) -> alt.LayerChart:
    longest = max(weights.shape)
    cell = CELL if longest <= LABELLED else SIDE / longest
    height, width = (size * cell for size in weights.shape)
    most = float(weights.max())
    levels = np.rint(weights / (most or 1) * 255).astype(np.uint8)
    image = alt.Chart(inline([{"image": map_image(levels)}])).mark_image(
        width=width, height=height, x=0, y=0, align="left", baseline="top", smooth=False, aspect=False
    )
    layers = [image.encode(url=alt.Url("image:N"))]
    if longest <= LABELLED:
        layers += [_labels(queries, cell, across=False), _labels(keys, cell, across=True)]
    heading = alt.TitleParams(f"{name}, up to {most:.2f}", fontSize=12)
    view = alt.ViewBackground(stroke=RULE)
    chart: Any = alt.layer(*layers, view=view)
    return chart.properties(width=width, height=height, title=heading)


def _labels(tokens: Sequence[str], cell: float, *, across: bool) -> alt.Chart:
    """The tokens at the left of a map, or above it."""
    rows = [{"place": (place + 0.5) * cell, "token": token} for place, token in enumerate(tokens)]
    chart = alt.Chart(inline(rows))
    look = {"color": GREY, "fontSize": 10, "limit": 110, "aria": False}
    place = {"axis": None, "scale": alt.Scale(domain=[0, len(tokens) * cell], range=[0, len(tokens) * cell])}
    if across:
        mark = chart.mark_text(align="left", angle=270, y=-5, **look)
        return mark.encode(x=alt.X("place:Q", **place), text=alt.Text("token:N"))
    return chart.mark_text(align="right", x=-5, **look).encode(y=alt.Y("place:Q", **place), text=alt.Text("token:N"))
