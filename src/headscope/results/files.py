"""Labelled results: their words and their check, what stands beside a mean, and saving them as netCDF.

A result is an `xarray.Dataset`. Its dimensions are only those of `vocabulary.dimensions`; layers and heads
count from 1, as in the papers. A mean `x` has its 95% bootstrap interval in `x_ci` (extra dimension
`bound`) and the number of examples it is a mean of in `x_n_examples`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.results import hub, netcdf
from headscope.results.saved_check import check_attributes, check_labels, check_values
from headscope.results.vocabulary import ATTRIBUTES, dimensions
from headscope.statistics.intervals import TOO_FEW
from headscope.storage.files import opening, refuse_link_out, write_atomically

if TYPE_CHECKING:
    import pandas as pd

MEASURED = ("lower", "upper", "n_examples")

# The endings of variables that say how sure a number is.
SURE = ("_ci", "p_value", "q_value", "_q", "special")


def means(result: xr.Dataset) -> list[str]:
    """Names of the variables that are not the interval or the count of another, nor maps, in their order."""
    beside, maps, variables = ("_ci", "_n_examples"), {"query", "typical_input"}, result.variables
    names = [str(name) for name in result.data_vars if not str(name).endswith(beside)]
    return [name for name in names if not maps & set(variables[name].dims)]


def with_interval(result: xr.Dataset, name: str) -> xr.DataArray:
    """One variable of a result, with its interval and number of examples as coordinates.

    The coordinates are `lower`, `upper` and `n_examples`, where the result has them.
    Raises `KeyError` if the result has no such variable.
    """
    array, beside = result[name], {}
    if f"{name}_ci" in result:
        bounds = result[f"{name}_ci"]
        indices = {bound: index for index, bound in enumerate(bounds["bound"].values.tolist())}
        beside = {bound: bounds.variable.isel(bound=indices[bound]) for bound in ("lower", "upper")}
    if f"{name}_n_examples" in result:
        beside["n_examples"] = result[f"{name}_n_examples"].variable
    # variables, not arrays: to align them with the array takes longer than all else
    return xr.DataArray(array.variable, {**array.coords, **beside}, name=array.name)


def joined(arrays: Sequence[xr.DataArray], dim: str | xr.Variable) -> xr.DataArray:
    """The arrays as one along a dimension: where one has an interval or a number of cases, the others have NaN there.

    >>> first, second = (xr.DataArray([0.5], dims="layer") for _ in range(2))
    >>> joined([first, second.assign_coords(lower=("layer", [0.25]))], "layer")["lower"].values.tolist()
    [nan, 0.25]
    """
    bounds = {bound for array in arrays for bound in MEASURED if bound in array.coords}
    parts = [
        array.assign_coords(
            {
                bound: array.variable.copy(data=np.full(array.shape, np.nan))
                for bound in bounds
                if bound not in array.coords
            }
        )
        for array in arrays
    ]
    return xr.concat(parts, dim, coords="different", compat="equals", join="outer")


def in_series(arrays: Mapping[str, xr.DataArray], dim: str = "series") -> xr.DataArray:
    """Several arrays as one along a new, last dimension, without their numbers of cases; its name is that of the first.

    >>> in_series({"model": xr.DataArray([0.5], dims="layer"), "chance": xr.DataArray([0.25], dims="layer")}).dims
    ('layer', 'series')
    """
    name = next(iter(arrays.values())).name
    parts = [array.drop_vars("n_examples", errors="ignore").rename(name) for array in arrays.values()]
    return joined(parts, xr.Variable(dim, list(arrays))).transpose(..., dim)


def tidy(array: xr.DataArray) -> "pd.DataFrame":
    """One row for each value that is not missing: the dimensions, `value`, and what `with_interval` put beside it.

    >>> tidy(xr.DataArray([0.5, float("nan")], coords={"layer": [1, 2]}))
       layer  value
    0      1    0.5
    """
    import pandas as pd  # help and refusals need no tables

    return pd.DataFrame(_columns(array))


def records(array: xr.DataArray) -> list[dict[str, Any]]:
    """The rows of `tidy` one by one, in plain Python values: quicker than from a table.

    >>> records(xr.DataArray([0.5, float("nan")], coords={"layer": [1, 2]}))
    [{'layer': 1, 'value': 0.5}]
    """
    columns = _columns(array)
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _columns(array: xr.DataArray) -> dict[str, np.ndarray]:
    """The columns of `tidy`."""
    import pandas as pd

    names = [name for name in array.coords if name in MEASURED]
    if not array.ndim:
        parts = {str(name): array[name].values for name in names} | {"value": array.values}
        return {name: np.atleast_1d(values) for name, values in parts.items()}
    filled = pd.notna(array.values)
    indices = zip(array.dims, np.nonzero(filled), strict=True)
    columns = {str(dim): array[dim].values[index] for dim, index in indices}
    for name in names:
        columns[str(name)] = array[name].variable.set_dims(dict(array.sizes)).values[filled]
    return {**columns, "value": array.values[filled]}


def check(result: xr.Dataset) -> xr.Dataset:
    """Return the result if its words are those of the vocabulary.

    Raises `ValueError` where a dimension is unknown, a variable has no `long_name`, `units` or `source`, a variable
    has intervals without their two bounds, or an attribute of `ATTRIBUTES` is missing.

    A result of too few documents has no intervals and no rates.
    """
    if unknown := set(map(str, result.dims)) - set(dimensions()):
        raise ValueError(f"result: dimensions {sorted(unknown)} are not in the vocabulary {sorted(dimensions())}")
    if missing := [name for name in ATTRIBUTES if name not in result.attrs]:
        raise ValueError(f"result: attributes {missing} are missing")
    for name, variable in result.data_vars.items():
        if missing := {"long_name", "units", "source"} - set(variable.attrs):
            raise ValueError(f"result: variable '{name}' lacks {sorted(missing)}")
        if wrong := [
            attribute
            for attribute in ("long_name", "units", "source")
            if not isinstance(variable.attrs[attribute], str)
        ]:
            raise ValueError(f"result: attributes {wrong} of variable '{name}' are not text")
        if str(name).endswith("_ci"):
            _check_interval(result, str(name))
    return without_intervals(result) if TOO_FEW in result.attrs.get("resampled", "") else result


def without_intervals(result: xr.Dataset) -> xr.Dataset:
    """The result without bounds and rates: too few documents support none.

    Those of a variable that says itself what was `resampled`, such as tokens of the vocabulary, stay.
    """
    names = [str(name) for name, array in result.data_vars.items() if "resampled" not in array.attrs]
    return result.assign({name: result[name] * np.nan for name in names if name.endswith(SURE)})


def _check_study(result: xr.Dataset) -> None:
    """Raise if the variables belong to another study than the result names; some of its own may be missing."""
    named, studies = result.attrs["study"], catalog.names("studies")
    if named in studies and not _is_of(named, result):
        if other := next((study for study in studies if _is_of(study, result)), None):
            raise ValueError(f"it is named a result of '{named}', but has the variables of '{other}'")


def _is_of(study: str, result: xr.Dataset) -> bool:
    """Whether a result has the variables that every result of a study has, and no result of another study."""
    return all(name in result for name in catalog.study(study).required)


def _check_interval(result: xr.Dataset, name: str) -> None:
    mean, bounds = name.removesuffix("_ci"), result[name]
    if mean not in result:
        raise ValueError(f"result: variable '{name}' has no variable '{mean}' beside it")
    if bounds.sizes.get("bound") != 2 or set(bounds.dims) - {"bound"} != set(result[mean].dims):
        raise ValueError(f"result: variable '{name}' has not two bounds for each value of '{mean}'")


def save(result: xr.Dataset, directory: str | Path, name: str = "result.nc") -> Path:
    """Write `directory/result.nc`, or another name, whole or not at all; it then survives a power cut.

    * `result`: what a study returned; `directory`: the folder, which is made if it is missing.
    * `name`: of the file.

    Raises `HeadscopeError` if the folder cannot be written to, and for attributes, labels or values that `read`
    refuses.
    """
    _refuse_unreadable(check(result))
    # In memory first: on a full disk the HDF5 library ends the process with a segmentation fault.
    return write_atomically(Path(directory) / name, netcdf.written(result), lasting=True)


def _refuse_unreadable(result: xr.Dataset) -> None:
    """Raise `HeadscopeError` for a result that could not be read again."""
    texts = {name: array.astype(str) for name, array in result.variables.items() if array.dtype.kind == "O"}
    stored = result.assign({name: array for name, array in texts.items() if name not in result.coords})
    stored = stored.assign_coords({name: array for name, array in texts.items() if name in result.coords})
    try:
        check_attributes(stored)
        check_labels(stored)
        check_values(stored)
    except ValueError as error:
        raise HeadscopeError(f"the result of '{result.attrs['study']}' cannot be saved: {error}") from error


def read(directory: str | Path) -> xr.Dataset:
    """Read the result of a folder (or a `.nc` file) into memory; `hf://OWNER/NAME/FOLDER` is one on the hub.

    * `directory`: the folder that a study wrote with `-o`, or `headscope.save_result`; the file; or the address.

    Raises `HeadscopeError` if there is none, or if it is not a result of headscope.
    """
    with _stored(directory) as stored:
        return check_values(stored.load())


def attributes_of(directory: str | Path) -> dict[str, Any]:
    """The attributes of the result of a folder (or a `.nc` file), such as its study; values are not read.

    Raises `HeadscopeError` if there is none, or if it is not a result of headscope.
    """
    with _stored(directory) as stored:
        return dict(stored.attrs)


@contextmanager
def _stored(directory: str | Path) -> Iterator[xr.Dataset]:
    """A saved result that is checked, its values still in the file."""
    path = hub.download(directory) if hub.is_address(directory) else Path(directory)
    with opening():
        if path.is_dir():
            folder, path = path, path / "result.nc"
            if not hub.is_address(directory):  # the cache links its files
                refuse_link_out(path, folder)
        if not path.is_file():
            raise HeadscopeError(f"result '{path}' does not exist; name a folder that a study wrote with -o")
        path.open("rb").close()  # HDF5 says in many words that it may not be read
    try:
        with netcdf.stored(path) as stored:
            check_attributes(stored)
            _check_study(check(stored))
            check_labels(stored)
            yield stored
    except (OSError, ValueError, TypeError, LookupError, RuntimeError, AttributeError, MemoryError) as error:
        # h5py raises all of these for damaged parts.
        reason = " ".join(str(error).split()) or type(error).__name__
        raise HeadscopeError(
            f"result '{path}' is not a result of headscope: {reason}; make it again, or leave it out"
        ) from error
