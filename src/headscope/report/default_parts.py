"""Findings and figures of a study that has none of its own: what the dimensions of its variables suggest."""

from typing import Any

import xarray as xr

from headscope import results
from headscope.figures import bars, heatmap, matrix, scatter, with_interval
from headscope.figures.labels import label
from headscope.figures.theme import named
from headscope.report.parts import Figure, Finding
from headscope.report.wording import examples, measured, spread

MOST_FINDINGS, MOST_FIGURES = 12, 16
SIGNED = ("difference", "change", "gain", "delta")


def findings(result: xr.Dataset) -> list[Finding]:
    """One finding for each variable: how far its values reach."""
    arrays = [measured(result, name) for name in results.means(result)]
    return [finding for array in arrays if array is not None for finding in _about(array)][:MOST_FINDINGS]


def _about(array: xr.DataArray) -> list[Finding]:
    if array.dtype.kind not in "fiu" or array.ndim == 0:
        return []
    rest = [dim for dim in array.dims if dim not in ("layer", "head")]
    if not {"layer", "head"} <= set(array.dims) or len(rest) != 1:
        return [_ends(array)]
    parts = [array.sel({rest[0]: value}) for value in array[rest[0]].values]
    return [_ends(part, f": {label(str(rest[0]), part[rest[0]].item())}") for part in parts if part.notnull().any()]


def _ends(array: xr.DataArray, part: str = "") -> Finding:
    return Finding(f"{named(array)}{part}", f"{spread(array)}.{examples(array)}")


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
        may_be_negative = any(word in str(array.name) for word in SIGNED)
        return heatmap(array, diverging=may_be_negative or None) if len(dims) <= 3 else None
    return bars(array) if len(dims) <= 3 else None
