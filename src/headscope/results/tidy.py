"""A labelled array as rows."""

import pandas as pd
import xarray as xr

MEASURED = ("lower", "upper", "n_examples")


def with_interval(result: xr.Dataset, name: str) -> xr.DataArray:
    """One variable of a result; its interval and number of examples stand beside it as coordinates.

    The coordinates are `lower`, `upper` and `n_examples`, where the result has them.
    Raises `KeyError` if the result has no such variable.
    """
    beside = {}
    if f"{name}_ci" in result:
        bounds = result[f"{name}_ci"]
        beside = {bound: bounds.sel(bound=bound, drop=True) for bound in ("lower", "upper")}
    if f"{name}_n_examples" in result:
        beside["n_examples"] = result[f"{name}_n_examples"]
    array = result[name]
    return array.assign_coords({key: value.transpose(..., missing_dims="ignore") for key, value in beside.items()})


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
    extra = [name for name in array.coords if name not in array.dims and name not in MEASURED]
    frame = array.drop_vars(extra).to_dataframe(name="value").reset_index()
    return frame.dropna(subset="value").reset_index(drop=True)
