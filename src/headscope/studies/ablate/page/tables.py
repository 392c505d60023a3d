"""The heads and layers whose disabling changes the main metric most, with intervals and corrected tests."""

from collections.abc import Hashable
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from headscope.figures.labels import head_name, label
from headscope.report.published import published_table
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, measured, rate
from headscope.studies.ablate.page import beside_single_heads
from headscope.studies.ablate.page.card import q_values
from headscope.studies.ablate.page.published import CAPTION, figures

BY_LAYER = ()
LEAST_HEADS, MOST_HEADS = 3, 8


def tables(result: xr.Dataset) -> list[Table]:
    """The heads whose disabling lowers the main metric most, all layers, what was asked beside, published figures."""
    metric = str(result["metric"].values[0])
    heads, layers = (measured(result, name, metric=metric) for name in ("head_gain", "layer_gain"))
    words, made = label("metric", metric), []
    if heads is not None:
        ordered = _tested(heads, q_values(result, metric, heads)).sort_values("value")
        losses = int((ordered["value"].to_numpy() < 0).sum())
        lowest = ordered.head(min(MOST_HEADS, max(LEAST_HEADS, losses)))
        rows = [(head_name(row["layer"], row["head"]), _cells(row)) for row in lowest.to_dict("records")]
        made.append(_table("heads", words, "Head", rows))
    if layers is not None:
        layer_rows = _tested(layers, measured(result, "layer_q_value") if metric == "accuracy" else None)
        rows = [(str(int(row["layer"])), _cells(row)) for row in layer_rows.to_dict("records")]
        made.append(_table("layers", words, "Layer", rows))
    beside = published_table(figures(result, metric), CAPTION)
    return [*made, *beside_single_heads.tables(result, metric), *beside]


def _tested(gains: xr.DataArray, q: xr.DataArray | None) -> pd.DataFrame:
    """Rows of gains with their intervals and false discovery rates, NaN where there is no test."""
    values = np.full(gains.shape, np.nan) if q is None else q.transpose(*gains.dims).values
    frame = gains.assign_coords(q=(gains.dims, values)).to_dataframe("value").reset_index()
    return frame.dropna(subset=["value"])


def _table(name: str, metric: str, key: str, rows: list) -> Table:
    which = {"Head": "a head: the largest losses", "Layer": "all heads of a layer"}[key]
    caption = f"Change of {metric} without {which}. q: false discovery rate among all {name}."
    return titled(name, caption, key, (f"Change of {metric}", "95% interval", "q"), rows)


def _cells(row: dict[Hashable, Any]) -> Cells:
    value, interval = Estimate(row["value"], row["lower"], row["upper"]).cell("+.3f")
    return [(value, ""), (interval, ""), None if isnan(row["q"]) else (rate(row["q"]), "")]
