"""A labelled array as rows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

MEASURED = ("lower", "upper", "n_examples")


def with_interval(result: xr.Dataset, name: str) -> xr.DataArray:
    """One variable of a result; its interval and number of examples stand beside it as coordinates.

    The coordinates are `lower`, `upper` and `n_examples`, where the result has them.
    Raises `KeyError` if the result has no such variable.
    """
    array, beside = result[name], {}
    if f"{name}_ci" in result:
        bounds = result[f"{name}_ci"]
        places = {bound: index for index, bound in enumerate(bounds["bound"].values.tolist())}
        beside = {bound: bounds.variable.isel(bound=places[bound]) for bound in ("lower", "upper")}
    if f"{name}_n_examples" in result:
        beside["n_examples"] = result[f"{name}_n_examples"].variable
    # variables, not arrays: to align them with the array takes longer than all else
    return xr.DataArray(array.variable, {**array.coords, **beside}, name=array.name)


def same_bounds(arrays: Sequence[xr.DataArray]) -> list[xr.DataArray]:
    """The arrays, to be put together: where one has a bound of its interval, the others have it too, as NaN.

    >>> one, other = same_bounds([xr.DataArray([0.5], dims="layer"), xr.DataArray(0.5, {"lower": 0.25})])
    >>> one["lower"].values.tolist()
    [nan]
    """
    bounds = {bound for array in arrays for bound in ("lower", "upper") if bound in array.coords}
    return [
        array.assign_coords(
            {
                bound: array.variable.copy(data=np.full(array.shape, np.nan))
                for bound in bounds
                if bound not in array.coords
            }
        )
        for array in arrays
    ]


def tidy(array: xr.DataArray) -> pd.DataFrame:
    """One row for each value that is not missing: the dimensions, `value`, and what `with_interval` put beside it.

    >>> tidy(xr.DataArray([0.5, float("nan")], coords={"layer": [1, 2]}))
       layer  value
    0      1    0.5
    """
    if not array.ndim:
        return pd.DataFrame([{name: array[name].item() for name in MEASURED if name in array.coords}]).assign(
            value=array.item()
        )
    filled = pd.notna(array.values)
    places = zip(array.dims, np.nonzero(filled), strict=True)
    columns = {str(dim): array[dim].values[index] for dim, index in places}
    for name in [name for name in array.coords if name in MEASURED]:
        columns[str(name)] = array[name].variable.set_dims(dict(array.sizes)).values[filled]
    return pd.DataFrame({**columns, "value": array.values[filled]})
