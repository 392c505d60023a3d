"""A variable of an open result file."""

import h5py


def stored(file: h5py.File, name: str) -> h5py.Dataset:
    """The data set of a variable."""
    item = file[name]
    assert isinstance(item, h5py.Dataset)
    return item
