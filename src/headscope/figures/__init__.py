"""Figures: each one Vega-Lite chart made from a labelled array."""

from headscope.figures._export import save
from headscope.figures._table import with_interval
from headscope.figures.attention_map import attention_map
from headscope.figures.bars import bars
from headscope.figures.by_layer import by_layer
from headscope.figures.heatmap import heatmap
from headscope.figures.matrix import matrix
from headscope.figures.scatter import scatter

__all__ = ["attention_map", "bars", "by_layer", "heatmap", "matrix", "save", "scatter", "with_interval"]
