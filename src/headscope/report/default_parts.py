"""Findings and figures of a study that has none of its own: what the dimensions of its variables suggest."""

from typing import Any

import numpy as np
import xarray as xr

from headscope import results
from headscope.figures import bars, heatmap, matrix, scatter, with_interval
from headscope.figures.labels import label
from headscope.figures.theme import named
from headscope.report.parts import Figure, Finding
from headscope.report.wording import examples, listed, measured, number, strongest

MOST_FINDINGS, MOST_FIGURES = 12, 16
SIGNED = ("difference", "change", "gain", "delta")


def findings(result: xr.Dataset) -> list[Finding]:
    """One finding for each variable: its highest and lowest heads, or its largest and smallest value."""
    arrays = [measured(result, name) for name in results.means(result)]
    return [finding for array in arrays if array is not None for finding in _about(array)][:MOST_FINDINGS]


def _about(array: xr.DataArray) -> list[Finding]:
    if array.dtype.kind not in "fiu" or array.ndim == 0:
        return []
    if not {"layer", "head"} <= set(array.dims):
        return [_largest(array)]
    rest = [dim for dim in array.dims if dim not in ("layer", "head")]
    if not rest:
        return [_heads(array, named(array))]
    if len(rest) > 1:
        return [_largest(array)]
    parts = [array.sel({rest[0]: value}) for value in array[rest[0]].values]
    return [
        _heads(part, f"{named(array)}: {label(str(rest[0]), part[rest[0]].item())}")
        for part in parts
        if part.notnull().any()
    ]


def _heads(array: xr.DataArray, topic: str) -> Finding:
    readings = strongest(array)
    high, low = listed(readings[:3]), listed(readings[::-1][:3])
    middle = number(float(array.median()))
    return Finding(topic, f"Highest in {high}; lowest in {low}; the median head has {middle}.{examples(array)}")


def _largest(array: xr.DataArray) -> Finding:
    ends = [_at(array, index) for index in (np.nanargmax(array.values), np.nanargmin(array.values))]
    return Finding(named(array), f"Largest: {ends[0]}; smallest: {ends[1]}.{examples(array)}")


def _at(array: xr.DataArray, index: np.intp) -> str:
    """The labels of a value, the value and its interval."""
    one = array.isel(dict(zip(array.dims, np.unravel_index(index, array.shape), strict=True)))
    where = ", ".join(f"{str(dim).replace('_', ' ')} {label(str(dim), one[dim].item())}" for dim in array.dims)
    bounds = f" [{number(float(one['lower']))}, {number(float(one['upper']))}]" if "lower" in one.coords else ""
    return f"{where} ({number(float(one))}{bounds})"


def figures(result: xr.Dataset) -> list[Figure]:
    """One figure for each variable that can be drawn; a variable with many dimensions gives several."""
    charts = []
    for name in results.means(result):
        for part in _parts(with_interval(result, name)):
            if (drawn := chart(part)) is not None:
                stem = "-".join([name, *(str(part[dim].item()) for dim in result[name].dims if dim not in part.dims)])
                charts.append(Figure(stem, "Figures", drawn, caption(result[name]), name))
    return charts[:MOST_FIGURES]


def caption(array: xr.DataArray) -> str:
    """The meaning of a variable, its unit and its source, as a sentence."""
    parts = [named(array), array.attrs.get("units", ""), array.attrs.get("source", "")]
    return "; ".join(part for part in parts if part) + "."


def _parts(array: xr.DataArray) -> list[xr.DataArray]:
    """Arrays that have at most one dimension beside layer and head: the last one is taken apart."""
    rest = [dim for dim in array.dims if dim not in ("layer", "head")]
    if not {"layer", "head"} <= set(array.dims) or len(rest) < 2 or "other_layer" in rest:
        return [array]
    dim = str(rest[-1])
    parts = [array.sel({dim: value}) for value in array[dim].values.tolist()]
    return [titled(part, label(dim, part[dim].item())) for array in parts for part in _parts(array)]


def titled(array: xr.DataArray, words: str) -> xr.DataArray:
    """The array with further words in its title."""
    return array.assign_attrs(array.attrs | {"long_name": f"{named(array)}, {words}"})


def chart(array: xr.DataArray) -> Any:
    """The chart that the dimensions suggest; None where there is none, or no value."""
    dims = set(array.dims)
    if array.dtype.kind not in "fiu" or not dims or "example" in dims or bool(array.isnull().all()):
        return None
    if dims == {"layer", "head", "axis"}:
        return scatter(array)
    if {"other_layer", "other_head"} <= dims:
        return matrix(array) if dims == {"layer", "head", "other_layer", "other_head"} else None
    if {"layer", "head"} <= dims:
        return heatmap(array, diverging=_is_difference(array) or None) if len(dims) <= 3 else None
    return bars(array) if len(dims) <= 3 else None


def _is_difference(array: xr.DataArray) -> bool:
    """True for names of variables whose values may lie on both sides of 0."""
    return any(word in str(array.name) for word in SIGNED)
