"""A labelled array as the rows of a chart or a table."""

import math
from typing import Any

import altair as alt
import xarray as xr
from altair.utils.schemapi import debug_mode

from headscope.figures.labels import head_name, label
from headscope.results import records, tidy, with_interval

__all__ = ["HEADS", "in_words", "inline", "number_or_none", "others", "records", "rows", "tidy", "with_interval"]

HEADS = ("layer", "head", "other_layer", "other_head")


def rows(array: xr.DataArray) -> list[dict[str, Any]]:
    """The rows of a chart: as `tidy`, with the values of dimensions in words and each head named.

    >>> rows(xr.DataArray([[0.25]], coords={"layer": [8], "head": [10]}, dims=["layer", "head"]))
    [{'layer': 8, 'head': 10, 'value': 0.25, 'name': '8-10'}]
    """
    dims = list(map(str, array.dims))
    heads = [prefix for prefix in ("", "other_") if {f"{prefix}layer", f"{prefix}head"} <= set(dims)]
    made = []
    for row in records(array):
        there = {key: value for key, value in row.items() if value == value}
        there |= {dim: label(dim, row[dim]) for dim in dims if dim not in HEADS}
        made.append(there | {f"{of}name": head_name(row[f"{of}layer"], row[f"{of}head"]) for of in heads})
    return made


def inline(records: list[dict[str, Any]]) -> alt.InlineData:
    """Rows as the data of a chart."""
    with debug_mode(False):  # Altair would check each number against the schema: half of the time of a report
        return alt.InlineData(values=tuple(records))  # it copies lists, and all rows in them, for each chart of a row


def number_or_none(value: float | None) -> float | None:
    """A number that a chart can show; None for NaN.

    >>> number_or_none(0.5), number_or_none(float("nan"))
    (0.5, None)
    """
    return None if value is None or math.isnan(value) else value


def in_words(array: xr.DataArray, dim: str) -> list[str]:
    """The values of a dimension in words, in their order, without those that have no value at all."""
    kept = array.dropna(dim, how="all")[dim].values.tolist()
    return [label(dim, value) for value in kept]


def others(array: xr.DataArray, *dims: str) -> list[str]:
    """The dimensions beside the named ones. Raises `ValueError` if a named one is missing."""
    if missing := set(dims) - set(array.dims):
        raise ValueError(f"figure: '{array.name}' has dimensions {array.dims}, without {sorted(missing)}")
    return [str(dim) for dim in array.dims if dim not in dims]
