"""From tallies to labelled variables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variable import Variable
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import Tally


def label(variable: Variable, tally: Tally, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """The mean of a measure, its 95% interval and its number of examples (or words ...), as variables of a result.

    `heads` is the number of heads of each layer; a layer with fewer heads than another is filled with NaN.
    """
    dims = ("layer", "head", *variable.coords)
    coords = {"layer": np.arange(1, len(heads) + 1), "head": np.arange(1, max(heads) + 1)}
    coords |= {name: list(labels) for name, labels in variable.coords.items()}
    attributes = {"long_name": variable.long_name, "units": variable.units, "source": variable.source}
    interval = attributes | {"long_name": f"95% bootstrap interval of {variable.long_name}"}
    count = {"long_name": f"{variable.cases} with {variable.long_name}", "units": variable.cases}
    counted = {name: coords[name] for name in variable.coords}
    return {
        variable.name: xr.DataArray(by_layer(tally.mean, heads), coords, dims, attrs=attributes),
        f"{variable.name}_ci": xr.DataArray(
            by_layer(tally.interval, heads), coords | {"bound": list(BOUNDS)}, (*dims, "bound"), attrs=interval
        ),
        f"{variable.name}_n_examples": xr.DataArray(
            tally.count, counted, tuple(variable.coords), attrs=attributes | count
        ),
    }


def array(values: Any, dims: tuple[str, ...], labels: Mapping[str, Sequence[Any]]) -> xr.DataArray:
    """Values with the labels of their dimensions; what has none, such as layers and heads, counts from 1.

    >>> array([0.5, 0.25], ("layer",), {"relation": ["all"]}).sel(layer=2).item()
    0.25
    """
    values = np.asarray(values)
    counted = {dim: np.arange(1, size + 1) for dim, size in zip(dims, values.shape, strict=True)}
    return xr.DataArray(values, {dim: list(labels[dim]) if dim in labels else counted[dim] for dim in dims}, dims)


def described(name: str, values: xr.DataArray, long_name: str, units: str, source: str) -> xr.DataArray:
    """A variable of a result; a name that ends in "_ci" is the interval of what `long_name` says."""
    interval = f"95% bootstrap interval of {long_name}" if name.endswith("_ci") else long_name
    return values.assign_attrs(long_name=interval, units=units, source=source)


def places(heads: tuple[int, ...]) -> list[tuple[int, int]]:
    """Layer and head, both from 1, of all heads in a row.

    >>> places((1, 2))
    [(1, 1), (2, 1), (2, 2)]
    """
    return [(layer, head) for layer, number in enumerate(heads, 1) for head in range(1, number + 1)]


def by_layer(flat: np.ndarray, heads: tuple[int, ...]) -> np.ndarray:
    """From heads in a row to [layer, head, ...]."""
    layer = np.repeat(np.arange(len(heads)), heads)
    head = np.concatenate([np.arange(number) for number in heads])
    whole = np.full((len(heads), max(heads), *flat.shape[1:]), np.nan)
    whole[layer, head] = flat
    return whole
