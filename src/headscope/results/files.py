"""Labelled results: the words of a result, its check, and saving it as netCDF.

A result is an `xarray.Dataset`. Its dimensions are only those of `DIMENSIONS`; layers and heads
count from 1, as in the papers. A mean `x` has its 95% bootstrap interval in `x_ci` (extra dimension
`bound`) and the number of examples it is a mean of in `x_n_examples`.
"""

from pathlib import Path

import h5py
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.files import replacing
from headscope.results.vocabulary import ATTRIBUTES, DIMENSIONS


def means(result: xr.Dataset) -> list[str]:
    """The variables that are not the interval or the count of another, nor maps, in their order."""
    beside, maps = ("_ci", "_n_examples"), {"query", "typical_input"}
    return [
        str(name) for name, array in result.items() if not str(name).endswith(beside) and not maps & set(array.dims)
    ]


def check(result: xr.Dataset) -> xr.Dataset:
    """The result itself, once its words are known to be those of the vocabulary.

    Raises `ValueError` where a dimension is unknown, a variable has no `long_name`, `units` or
    `source`, or an attribute of `ATTRIBUTES` is missing.
    """
    if unknown := set(map(str, result.dims)) - set(DIMENSIONS):
        raise ValueError(f"result: dimensions {sorted(unknown)} are not in the vocabulary {sorted(DIMENSIONS)}")
    if missing := [name for name in ATTRIBUTES if name not in result.attrs]:
        raise ValueError(f"result: attributes {missing} are missing")
    for name, variable in result.data_vars.items():
        if missing := {"long_name", "units", "source"} - set(variable.attrs):
            raise ValueError(f"result: variable '{name}' lacks {sorted(missing)}")
    return result


def save(result: xr.Dataset, directory: str | Path) -> Path:
    """Write `directory/result.nc`, whole or not at all.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    path = Path(directory) / "result.nc"
    with replacing(path) as scratch:
        check(result).to_netcdf(scratch, engine="h5netcdf")
    return path


def read(directory: str | Path) -> xr.Dataset:
    """Read the result of a folder (or a `.nc` file) into memory.

    Raises `HeadscopeError` if there is none, or if it is not a result of headscope.
    """
    path = Path(directory)
    path = path / "result.nc" if path.is_dir() else path
    if not path.is_file():
        raise HeadscopeError(f"result '{path}' does not exist; name a folder that a study wrote with -o")
    try:
        with h5py.File(path) as file:  # h5netcdf would complain once more, when it throws away what it cannot read
            file.visit(lambda name: None)
        with xr.open_dataset(path, engine="h5netcdf") as stored:
            return check(stored.load())
    except (OSError, ValueError, KeyError, RuntimeError) as error:  # h5py raises the last two for damaged parts
        said = f"is not a result of headscope: {' '.join(str(error).split())}"
        raise HeadscopeError(f"result '{path}' {said}; make it again, or leave it out") from error
