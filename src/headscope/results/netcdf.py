"""Data sets as netCDF files, written and read by h5py; values stay in the file until they are asked for.

h5netcdf asks for all objects again and again: it takes four times as long.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray as xr
from h5py import h5a, h5o, h5r, h5s, h5t  # pyright: ignore[reportAttributeAccessIssue]
from xarray.backends import AbstractDataStore, BackendArray
from xarray.conventions import cf_encoder, encode_dataset_coordinates
from xarray.core.indexing import ExplicitIndexer, IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from headscope.results.hostile_netcdf import REFERENCES, safe_attributes, safe_datasets

# What HDF5 and netCDF keep in attributes of their own.
HIDDEN = {REFERENCES, "CLASS", "DIMENSION_LIST", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties"}
TEXT = h5py.string_dtype()
ONLY_A_DIMENSION = "This is a netCDF dimension but not a netCDF variable."
_TEXT_TYPE, _SCALAR = h5t.py_create(TEXT, logical=True), h5s.create(h5s.SCALAR)


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
        # HDF5 itself searches the whole file for the name of what a reference points to.
        self.names = {h5o.get_info(dataset.id).addr: name for name, dataset in datasets.items()}

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
        attributes = dataset.attrs
        listed = "DIMENSION_LIST" in attributes
        if dataset.ndim == 1 and not listed and "CLASS" in attributes:  # it labels the dimension
            return (name,)
        scales = attributes["DIMENSION_LIST"] if listed else ()
        if len(scales) != dataset.ndim or not all(map(len, scales)):
            raise ValueError(f"variable '{name}' has dimensions without a name")
        return tuple(self.names[h5o.get_info(h5r.dereference(scale[0], self.file.id)).addr] for scale in scales)

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


def written(data: xr.Dataset) -> bytes:
    """The content of a netCDF file; objects keep the order of their creation."""
    variables, attributes = cf_encoder(*encode_dataset_coordinates(data))
    sizes = {dim: size for variable in variables.values() for dim, size in variable.sizes.items()}
    content = io.BytesIO()
    with h5py.File(content, "w", track_order=True) as file:
        _write_attributes(file, attributes)
        unlabelled = {
            dim: file.create_dataset(str(dim), dtype=">f4", track_order=True, **_shape((size,)))
            for dim, size in sizes.items()
            if dim not in variables
        }
        datasets = {name: _write_variable(file, str(name), variable) for name, variable in variables.items()}
        scales = {dim: (number, (unlabelled | datasets)[dim]) for number, dim in enumerate(sizes)}
        for dim, (number, scale) in scales.items():
            scale.make_scale(f"{ONLY_A_DIMENSION}{sizes[dim]:10}" if dim in unlabelled else str(dim))
            scale.attrs["_Netcdf4Dimid"] = np.int32(number)
        for name, dataset in datasets.items():
            _attach(dataset, [scales[dim] for dim in variables[name].dims])
    return content.getvalue()


def _write_variable(file: h5py.File, name: str, variable: xr.Variable) -> h5py.Dataset:
    attributes = dict(variable.attrs)
    missing = attributes.pop("_FillValue", None)
    values = np.asarray(variable.values)
    is_text = values.dtype.kind in "OU"
    dataset = file.create_dataset(
        name,
        data=values.astype(object) if is_text else values,
        dtype=TEXT if is_text else values.dtype,
        fillvalue=missing,
        track_order=True,
        **_shape(values.shape),
    )
    if missing is not None:
        dataset.attrs["_FillValue"] = np.full(1, missing, values.dtype)
    _write_attributes(dataset, attributes)
    return dataset


def _shape(shape: tuple[int, ...]) -> dict[str, Any]:
    """The arguments of HDF5 for a shape; netCDF has dimensions without a value as those that may grow."""
    return {"shape": shape} | (
        {"maxshape": tuple(size or None for size in shape), "chunks": True} if 0 in shape else {}
    )


def _write_attributes(item: h5py.HLObject, attributes: Mapping[Any, Any]) -> None:
    for name, value in attributes.items():
        if isinstance(value, str):  # h5py takes four times as long
            h5a.create(item.id, str(name).encode(), _TEXT_TYPE, _SCALAR).write(np.array(value, dtype=TEXT))
        else:
            item.attrs[name] = value if isinstance(value, list) else np.atleast_1d(value)


def _attach(dataset: h5py.Dataset, scales: Sequence[tuple[int, h5py.Dataset]]) -> None:
    """Refer to the scales of the dimensions of a variable, with their numbers; a scale cannot refer to itself."""
    for axis, (_, scale) in enumerate(scales):
        if scale is not dataset:
            dataset.dims[axis].attach_scale(scale)
    if scales:
        dataset.attrs["_Netcdf4Coordinates"] = np.array([number for number, _ in scales], np.int32)
