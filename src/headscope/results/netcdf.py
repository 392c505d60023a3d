"""Data sets as netCDF, whose HDF5 objects are opened once each: h5netcdf alone opens a variable about forty times."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import xarray as xr
from xarray.backends import H5NetCDFStore

from headscope.results.hdf5_guard import refuse_hostile


class _OpenedOnce(h5py.File):
    """An HDF5 file that keeps the objects that were looked up by their names."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._objects: dict[str, Any] = {}

    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str):  # a reference
            return super().__getitem__(name)
        key = name.strip("/")
        if not key:
            return self
        if key not in self._objects:
            self._objects[key] = super().__getitem__(name)
        return self._objects[key]

    def __delitem__(self, name: str) -> None:
        self._objects.pop(name.strip("/"), None)
        super().__delitem__(name)


def written(data: xr.Dataset) -> bytes:
    """The content of a netCDF file; netCDF asks for objects in the order of their creation."""
    content = io.BytesIO()
    with _OpenedOnce(content, "w", track_order=True) as file, h5netcdf.File(file, "w") as netcdf:
        data.dump_to_store(H5NetCDFStore(netcdf))
    return content.getvalue()


@contextmanager
def stored(path: Path) -> Iterator[xr.Dataset]:
    """The data set in a netCDF file that is not hostile; values are read when they are asked for."""
    with _OpenedOnce(path) as file:
        refuse_hostile(file)
        with h5netcdf.File(file, decode_vlen_strings=True) as netcdf:
            yield xr.open_dataset(H5NetCDFStore(netcdf))
