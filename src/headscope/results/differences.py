"""Differences between two results of one command."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

TOLERANCE = 1e-5
TIME = "s"  # the unit of what a clock gave, which is never twice the same


@dataclass(frozen=True)
class Difference:
    """A variable in which two results differ.

    * `largest`: the largest absolute difference; infinite where only one result has a value, NaN where values cannot
      be subtracted.
    * `where`: the labels of its place, or what else differs.
    """

    variable: str
    largest: float
    where: str


def differences(
    saved: xr.Dataset, new: xr.Dataset, tolerance: float = TOLERANCE, relative: float = 0.0
) -> Iterator[Difference]:
    """The variables whose values differ by more than `tolerance + relative * |saved|`, in the order of the results.

    Two missing values are equal. Kept maps of typical inputs are left out, which are pictures, and times.

    >>> one = xr.Dataset({"entropy": ("head", [0.5, 1.0])}, coords={"head": [1, 2]})
    >>> list(differences(one, one + xr.DataArray([0.0, 0.25], dims="head")))
    [Difference(variable='entropy', largest=0.25, where='head 2')]
    """
    for name in dict.fromkeys((*compared(saved), *compared(new))):
        if name not in saved or name not in new:
            yield Difference(name, np.nan, f"missing in the {'new' if name in saved else 'saved'} result")
        else:
            yield from _of_variable(saved[name], new[name], tolerance, relative)


def compared(result: xr.Dataset) -> list[str]:
    """The names of the variables that are compared.

    >>> compared(xr.Dataset({"entropy": 0.5, "train_seconds": xr.DataArray(3.0, attrs={"units": "s"})}))
    ['entropy']
    """
    return [
        str(name)
        for name, array in result.data_vars.items()
        if "typical_input" not in array.dims and array.attrs.get("units") != TIME
    ]


def _of_variable(saved: xr.DataArray, new: xr.DataArray, tolerance: float, relative: float) -> Iterator[Difference]:
    name = str(saved.name)
    if saved.sizes != new.sizes:
        yield Difference(name, np.nan, f"{_sizes(saved)} in the saved result, {_sizes(new)} in the new one")
    elif other := [str(dim) for dim in saved.dims if not np.array_equal(saved[dim].values, new[dim].values)]:
        yield Difference(name, np.nan, f"other labels of {', '.join(other)}")
    elif saved.dtype.kind not in "biuf" or new.dtype.kind not in "biuf":
        if (unequal := saved.values != new.values).any():
            yield Difference(name, np.nan, _labels(saved, int(unequal.argmax())))
    elif saved.size:
        distance = _distance(saved.values.astype(np.float64), new.values.astype(np.float64))
        beyond = distance > tolerance + relative * np.nan_to_num(np.abs(saved.values.astype(np.float64)))
        if beyond.any():
            worst = int(np.where(beyond, distance, -1.0).argmax())
            yield Difference(name, float(distance.flat[worst]), _labels(saved, worst))


def _distance(saved: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Absolute differences; 0 for equal and for two missing values, infinite where one is missing."""
    equal = (saved == new) | (np.isnan(saved) & np.isnan(new))
    with np.errstate(invalid="ignore"):
        return np.where(equal, 0.0, np.nan_to_num(np.abs(saved - new), nan=np.inf))


def _labels(array: xr.DataArray, flat: int) -> str:
    at = np.unravel_index(flat, array.shape) if array.ndim else ()
    return ", ".join(f"{dim} {array[dim].values[index]}" for dim, index in zip(array.dims, at, strict=True))


def _sizes(array: xr.DataArray) -> str:
    return " x ".join(f"{size} {dim}" for dim, size in array.sizes.items()) or "one value"
