"""Data sets read from netCDF by h5py; values stay in the file until they are asked for.

h5netcdf asks for all objects again and again: it takes four times as long.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr
from h5py import h5i, h5r  # pyright: ignore[reportAttributeAccessIssue]
from xarray.backends import AbstractDataStore, BackendArray
from xarray.core.indexing import ExplicitIndexer, IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from headscope.results.netcdf.hostile import REFERENCES, safe_attributes, safe_datasets
from headscope.results.netcdf.writing import ONLY_A_DIMENSION

# What HDF5 and netCDF keep in attributes of their own.
HIDDEN = {REFERENCES, "CLASS", "DIMENSION_LIST", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties"}


@contextmanager
def stored(path: Path) -> Iterator[xr.Dataset]:
    """The data set in a netCDF file that is not hostile; values are read when they are asked for.

    Raises `ValueError` if it is hostile, or if a variable has a dimension without a name.
    """
    with h5py.File(path) as file:
        yield xr.open_dataset(_Store(file, safe_datasets(file)))


class _Values(BackendArray):
    """The values of a variable in a file."""

    def __init__(self, dataset: Any):
        self.dataset = dataset.asstr() if h5py.check_string_dtype(dataset.dtype) else dataset
        self.shape, self.dtype = dataset.shape, dataset.dtype

    def __getitem__(self, key: ExplicitIndexer) -> Any:
        return explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER_1VECTOR, self.dataset.__getitem__)


class _Store(AbstractDataStore):
    """The variables and attributes of a file that the netCDF library wrote, or h5netcdf, or `written`."""

    def __init__(self, file: h5py.File, datasets: Mapping[str, Any]):
        self.file, self.datasets, self.read = file, datasets, 0

    def get_attrs(self) -> dict[str, Any]:
        """The attributes of the data set."""
        return self._attributes(self.file)

    def get_variables(self) -> dict[str, xr.Variable]:
        """The variables by name, in the order of the file."""
        attributes = {name: self._attributes(dataset) for name, dataset in self.datasets.items()}
        return {
            name: _variable(self._dims(name, dataset), dataset, attributes[name])
            for name, dataset in self.datasets.items()
            if not ("NAME" in dataset.attrs and dataset.attrs["NAME"].startswith(ONLY_A_DIMENSION.encode()))
        }

    def _dims(self, name: str, dataset: Any) -> tuple[str, ...]:
        listed = "DIMENSION_LIST" in dataset.attrs
        if dataset.ndim == 1 and not listed and "CLASS" in dataset.attrs:  # it labels the dimension
            return (name,)
        scales = dataset.attrs["DIMENSION_LIST"] if listed else ()
        if len(scales) != dataset.ndim or not all(map(len, scales)):
            raise ValueError(f"variable '{name}' has dimensions without a name")
        return tuple(h5i.get_name(h5r.dereference(scale[0], self.file.id)).decode().strip("/") for scale in scales)

    def _attributes(self, item: Any) -> dict[str, Any]:
        attributes, self.read = safe_attributes(item, HIDDEN, self.read)
        return {name: _single(value) for name, value in attributes.items()}


def _variable(dims: tuple[str, ...], dataset: Any, attributes: dict[str, Any]) -> xr.Variable:
    encoding = {"dtype": str if h5py.check_string_dtype(dataset.dtype) else dataset.dtype}
    return xr.Variable(dims, LazilyIndexedArray(_Values(dataset)), attributes, encoding)


def _single(value: Any) -> Any:
    """An attribute as it was written: netCDF keeps a number as a list of one, other programs a text as bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, np.ndarray):
        value = [*map(_single, value.tolist())] if value.dtype.kind in "OS" else value
        return value[0] if len(value) == 1 else value
    return value
