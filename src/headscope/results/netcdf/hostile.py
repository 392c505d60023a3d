"""Refuse files that read other files, or declare more values than a result can have."""

from collections.abc import Iterator
from math import prod

import h5py
import numpy as np

# Bytes of all variables together, and of one: the intervals of all pairs of 96 x 96 heads, the most that a study
# writes, have 1.4 gigabytes.
LARGEST, LARGEST_VARIABLE = 5 * 2**29, 3 * 2**29
# Studies save values as they are. Another program may have packed them: so many times, beyond the first bytes.
PACKED, UNPACKED = 10, 16 * 2**20
MOST_VARIABLES = 1000
TOGETHER = 64  # texts that are read at once
SMALLER = "; use fewer layers, heads or examples"


def safe_datasets(file: h5py.File) -> dict[str, h5py.Dataset]:
    """The datasets of a flat HDF5 file whose values are its own, of bounded size.

    Raises `ValueError` for others. Refused are groups, links by name and into other files, values in external storage
    and in other datasets, more than `MOST_VARIABLES` variables, more than `LARGEST` bytes in all or `LARGEST_VARIABLE`
    in one variable, numbers that take far more memory than the file, and a variable whose shape is not that of its
    dimensions. No number is read.
    """
    if len(file) > MOST_VARIABLES:
        raise ValueError(f"it has {len(file):,} variables, more than {MOST_VARIABLES:,}; keep those of one study")
    datasets = dict(_datasets(file))
    sizes = {name: _bytes(name, dataset) for name, dataset in datasets.items()}
    texts = {name: _text_bytes(item) for name, item in datasets.items() if h5py.check_string_dtype(item.dtype)}
    for name, size in (sizes | texts).items():
        if size > LARGEST_VARIABLE:
            raise ValueError(f"variable '{name}' declares {size:,} bytes, more than {LARGEST_VARIABLE:,}{SMALLER}")
    if (total := sum((sizes | texts).values())) > LARGEST:
        raise ValueError(f"its variables declare {total:,} bytes, more than {LARGEST:,}{SMALLER}")
    held = file.id.get_filesize()
    if (unpacked := sum(sizes.values())) > max(UNPACKED, PACKED * held):
        raise ValueError(
            f"its variables declare {unpacked:,} bytes, more than {PACKED} times the {held:,} of the file; "
            "save it without compression"
        )
    return datasets


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


def _text_bytes(dataset: h5py.Dataset) -> int:
    """The bytes that texts take in memory, where each has the room of the longest."""
    blocks = (dataset[at : at + TOGETHER] for at in range(0, len(dataset), TOGETHER)) if dataset.ndim else [dataset[()]]
    longest = max((len(text) for block in blocks for text in np.ravel(block)), default=0)
    return prod(dataset.shape or ()) * 4 * longest
