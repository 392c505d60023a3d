"""Refusal of HDF5 files that read other files or declare more values than a result can have."""

from collections.abc import Iterator
from math import prod

import h5py

# Bytes of all variables of a result together; those of 24 layers of 16 heads have a few hundred megabytes.
LARGEST = 4 * 2**30


def refuse_hostile(file: h5py.File) -> None:
    """Raise `ValueError` unless the file is a flat HDF5 file whose values are its own, of bounded size.

    Refused are groups, links by name and into other files, values in external storage and in other datasets, more
    than `LARGEST` bytes, and a variable whose shape is not that of its dimensions. No value is read.
    """
    total = sum(_bytes(name, dataset) for name, dataset in _datasets(file))
    if total > LARGEST:
        raise ValueError(f"its variables declare {total:,} bytes, more than {LARGEST:,}")


def _datasets(file: h5py.File) -> Iterator[tuple[str, h5py.Dataset]]:
    for name in map(str, file):
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"'{name}' is a link to another place; a result holds its values itself")
        item = file[name]
        if not isinstance(item, h5py.Dataset):
            raise ValueError(f"'{name}' is a {type(item).__name__.lower()}; a result has variables only")
        if item.external or item.is_virtual:
            raise ValueError(f"variable '{name}' has its values in another file; a result holds its values itself")
        yield name, item


def _bytes(name: str, dataset: h5py.Dataset) -> int:
    """The bytes of a variable, or of one of its chunks where that is larger."""
    shape = dataset.shape or ()
    for axis, size in enumerate(shape):
        for scale in dataset.dims[axis].values():
            if scale.shape != (size,):
                raise ValueError(f"variable '{name}' has {size:,} values along a dimension of shape {scale.shape}")
    return max(prod(shape), prod(dataset.chunks or ())) * dataset.dtype.itemsize
