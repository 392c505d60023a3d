"""Figures: each one Vega-Lite chart made from a labelled array."""

from headscope.figures._export import save
from headscope.figures._table import with_interval
from headscope.figures.attention_map import attention_map, attention_maps
from headscope.figures.bars import bars
from headscope.figures.by_layer import by_layer
from headscope.figures.classes import classes
from headscope.figures.curve import curve
from headscope.figures.heatmap import heatmap
from headscope.figures.matrix import matrix
from headscope.figures.scatter import scatter
from headscope.figures.stacked import stacked
from headscope.figures.zoom import zoom

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
