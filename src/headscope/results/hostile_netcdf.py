"""Refuse files that read other files, or declare more values than a result can have."""

from collections.abc import Iterator, Mapping, Set
from itertools import product
from math import prod
from typing import Any

import h5py
import numpy as np

from headscope.storage import limits

# Bytes that a block of texts may take if each is as long as the file, and how many texts a block has.
BLOCK, LEAST_TEXTS, MOST_TEXTS = 256 * 2**20, 16, 4096
# Of a label the places of all variables that it labels: netCDF keeps it, and nobody reads it here.
REFERENCES, DIMENSIONS = "REFERENCE_LIST", "DIMENSION_LIST"
SMALLER = "; use fewer layers, heads or examples"


def safe_datasets(file: h5py.File) -> dict[str, h5py.Dataset]:
    """The datasets of a flat HDF5 file whose values are its own, of bounded size.

    Raises `ValueError` for others. Refused are groups, links by name and into other files, values in external storage
    and in other datasets, variables, bytes or texts beyond the bounds, and a variable whose shape is not that of its
    dimensions. No number is read, and no text before the sizes are checked.
    """
    if len(file) > limits.MOST_VARIABLES:
        raise ValueError(
            f"it has {len(file):,} variables, more than {limits.MOST_VARIABLES:,}; keep those of one study"
        )
    _refuse_attributes(file)
    datasets = dict(_datasets(file))
    sizes = {name: _bytes(name, dataset) for name, dataset in datasets.items()}
    held = file.id.get_filesize()
    _refuse_large(sizes)
    if (unpacked := sum(sizes.values())) > max(limits.PACKED_LEAST, limits.PACKED_TIMES * held):
        raise ValueError(
            f"its variables declare {unpacked:,} bytes, more than {limits.PACKED_TIMES} times the {held:,} of the "
            "file; save it without compression"
        )
    texts = {name: item for name, item in datasets.items() if h5py.check_string_dtype(item.dtype)}
    text_sizes = {name: _text_bytes(name, item, held) for name, item in texts.items()}
    _refuse_large(sizes | text_sizes)
    if (padded := sum(text_sizes.values())) > max(limits.PADDED_LEAST, limits.PADDED_TIMES * held):
        raise ValueError(
            f"its texts declare {padded:,} bytes, more than {limits.PADDED_TIMES} times the {held:,} of the file; "
            "shorten the longest"
        )
    return datasets


def safe_attributes(item: h5py.HLObject, skip: Set[str], read: int) -> tuple[dict[str, Any], int]:
    """The attributes of a variable or of the file.

    * `skip`: the names of those that are not returned; `read`: the bytes of those that were read before.

    Returns: the attributes, and the bytes of all that were read.

    Raises `ValueError` if all have more bytes than the file: then many are one and the same.
    """
    attributes, stored = dict[str, Any](), item.attrs
    most = max(item.file.id.get_filesize(), limits.PACKED_LEAST)
    for name in (name for name in stored if name not in skip):
        attributes[name] = stored[name]
        read += sum(map(_length, np.ravel(attributes[name])))
        if read > most:
            raise ValueError(f"its attributes have {read:,} bytes, more than the file; save it again")
    return attributes, read


def _refuse_attributes(item: Any) -> None:
    """Raise `ValueError` for a long list in an attribute, and for dimensions that are no references."""
    attributes = item.attrs
    for name in attributes:
        attribute = attributes.get_id(name)
        number = prod(attribute.shape or ())
        if number > limits.MOST_VALUES and name != REFERENCES:
            raise ValueError(f"attribute '{name}' has {number:,} values, more than {limits.MOST_VALUES}; save it again")
        kind = attribute.dtype if name == DIMENSIONS else None
        if kind and (number != item.ndim or h5py.check_ref_dtype(h5py.check_vlen_dtype(kind) or kind) is None):
            raise ValueError(f"attribute '{name}' names no dimensions; save it again")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else np.asarray(value).nbytes


def _refuse_large(sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if size > limits.LARGEST_VARIABLE:
            raise ValueError(
                f"variable '{name}' declares {size:,} bytes, more than {limits.LARGEST_VARIABLE:,}{SMALLER}"
            )
    if (total := sum(sizes.values())) > limits.LARGEST_RESULT:
        raise ValueError(f"its variables declare {total:,} bytes, more than {limits.LARGEST_RESULT:,}{SMALLER}")


def _datasets(file: h5py.File) -> Iterator[tuple[str, h5py.Dataset]]:
    for name in map(str, file):
        if not isinstance(file.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"'{name}' is a link to another place; a result holds its values itself")
        item = file[name]
        if not isinstance(item, h5py.Dataset):
            raise ValueError(f"'{name}' is a {type(item).__name__.lower()}; a result has variables only")
        if item.external or item.is_virtual:
            raise ValueError(f"variable '{name}' has its values in another file; a result holds its values itself")
        _refuse_attributes(item)
        yield name, item


def _bytes(name: str, dataset: h5py.Dataset) -> int:
    """The bytes of a variable, or of one of its chunks where that is larger."""
    shape = dataset.shape or ()
    for axis, size in enumerate(shape):
        for scale in dataset.dims[axis].values():
            if scale.shape != (size,):
                raise ValueError(f"variable '{name}' has {size:,} values along a dimension of shape {scale.shape}")
    return max(prod(shape), prod(dataset.chunks or ())) * dataset.dtype.itemsize


def _text_bytes(name: str, dataset: h5py.Dataset, held: int) -> int:
    """The bytes that texts take in memory, where each has the room of the longest.

    Raises `ValueError` if they have more bytes than the file: then many are one and the same.
    """
    longest = total = 0
    for block in _blocks(dataset, min(max(LEAST_TEXTS, BLOCK // held), MOST_TEXTS)):
        sizes = [len(text) for text in np.ravel(block)]
        longest, total = max(longest, *sizes), total + sum(sizes)
        if total > max(held, limits.PACKED_LEAST):
            raise ValueError(f"variable '{name}' has texts of {total:,} bytes, more than the file; save it again")
    return prod(dataset.shape or ()) * 4 * longest


def _blocks(dataset: h5py.Dataset, most: int) -> Iterator[np.ndarray]:
    """The values, this many at once at most."""
    steps, left = list[int](), most
    for size in reversed(dataset.shape or ()):
        steps.append(max(1, min(size, left)))
        left //= steps[-1]
    ranges = (range(0, size, step) for size, step in zip(dataset.shape or (), reversed(steps), strict=True))
    for corner in product(*ranges):
        yield dataset[tuple(slice(at, at + step) for at, step in zip(corner, reversed(steps), strict=True))]
