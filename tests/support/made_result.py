"""Results of any study made of chosen numbers: what findings, tables and figures are tested with.

>>> result = made_result("made", {"x": xr.DataArray([0.5], {"layer": [1]})}, half=0.25)
>>> result["x_ci"].values.tolist(), int(result["x_n_examples"])
([[0.25, 0.75]], 400)
"""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from headscope.results.vocabulary import ATTRIBUTES, BOUNDS


def made_result(
    study: str,
    measured: Mapping[str, xr.DataArray],
    beside: Mapping[str, xr.DataArray] | None = None,
    *,
    half: float = 0.02,
    n: int | xr.DataArray = 400,
    **attrs: Any,
) -> xr.Dataset:
    """A result whose measured variables have intervals of `half` to both sides and rest on `n` examples.

    * `beside`: variables that have neither.
    """
    variables = {**measured, **(beside or {})}
    for name, array in measured.items():
        bounds = xr.concat([array - half, array + half], xr.Variable("bound", list(BOUNDS)))
        variables[f"{name}_ci"] = bounds.transpose(..., "bound")
        variables[f"{name}_n_examples"] = n.drop_attrs() if isinstance(n, xr.DataArray) else xr.DataArray(n)
    result = xr.Dataset(variables)
    for name, array in result.data_vars.items():
        units = "examples" if str(name).endswith("_n_examples") else "share"
        array.attrs |= {"long_name": str(name).replace("_", " "), "units": units, "source": "made"}
    return result.assign_attrs(dict.fromkeys(ATTRIBUTES, "made") | {"study": study, "n_examples": 400} | attrs)
