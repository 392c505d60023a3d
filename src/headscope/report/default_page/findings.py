"""Findings of a study that has none of its own: the highest and the lowest heads."""

import numpy as np
import xarray as xr

from headscope import results
from headscope.figures.labels import label
from headscope.figures.theme import named
from headscope.report.parts import Finding
from headscope.report.wording import examples, listed, measured, number, strongest

MOST = 12


def findings(result: xr.Dataset) -> list[Finding]:
    """One finding for each variable: its highest and lowest heads, or its largest and smallest value."""
    arrays = [measured(result, name) for name in results.means(result)]
    return [finding for array in arrays if array is not None for finding in _about(array)][:MOST]


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
    ends = [_place(array, index) for index in (np.nanargmax(array.values), np.nanargmin(array.values))]
    return Finding(named(array), f"Largest: {ends[0]}; smallest: {ends[1]}.{examples(array)}")


def _place(array: xr.DataArray, index: np.intp) -> str:
    """The place of a value, the value and its interval."""
    one = array.isel(dict(zip(array.dims, np.unravel_index(index, array.shape), strict=True)))
    where = ", ".join(f"{str(dim).replace('_', ' ')} {label(str(dim), one[dim].item())}" for dim in array.dims)
    bounds = f" [{number(float(one['lower']))}, {number(float(one['upper']))}]" if "lower" in one.coords else ""
    return f"{where} ({number(float(one))}{bounds})"
