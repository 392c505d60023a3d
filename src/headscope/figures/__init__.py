"""Figures: each one Vega-Lite chart made from a labelled array."""

import altair as alt

from headscope.catalog import missing
from headscope.figures.attention_map import attention_map, attention_maps, zoom
from headscope.figures.bars import bars, stacked
from headscope.figures.by_layer import by_layer
from headscope.figures.curve import curve
from headscope.figures.export import save, svg
from headscope.figures.heatmap import classes, heatmap, matrix
from headscope.figures.scatter import scatter
from headscope.figures.tidy import with_interval

# Charts show in a notebook without a network; `altair.renderers.enable("default")` makes them interactive, from a CDN.
if alt.renderers.active == "default" and not missing("vl_convert"):
    alt.renderers.register("headscope", lambda spec, **_: {"image/svg+xml": svg(spec)})
    alt.renderers.enable("headscope")

__all__ = [
    "attention_map",
    "attention_maps",
    "bars",
    "by_layer",
    "classes",
    "curve",
    "heatmap",
    "matrix",
    "save",
    "scatter",
    "stacked",
    "with_interval",
    "zoom",
]
