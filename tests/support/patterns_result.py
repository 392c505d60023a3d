"""A result of the study `patterns` made of chosen numbers: what its figures and its report are tested with."""

import numpy as np
import xarray as xr

from headscope.results.vocabulary import PATTERNS
from support.profile_result import profile_result

SOURCE = {"source": "Kovaleva et al. 2019, section 4.1"}
# Of the heads 1-1, 1-2, 2-1, 2-2: one vertical, one diagonal, one heterogeneous, one of which no pattern has half.
SHARES = np.array(
    [[[0.9, 0.1, 0, 0, 0], [0, 0.8, 0.2, 0, 0]], [[0.08, 0, 0, 0, 0.92], [0.42, 0.3, 0.28, 0, 0]]], dtype=float
)
TOKENS = ["[CLS]", "if", "</script>", "[SEP]"]


def patterns_result(tasks: tuple[str, ...] = ()) -> xr.Dataset:
    """Two layers of two heads; by task the heterogeneous share grows by 0.05 from one to the next."""
    axes = {"layer": [1, 2], "head": [1, 2], "pattern": list(PATTERNS)}
    parts = []
    for index in range(max(1, len(tasks))):
        share = xr.DataArray(SHARES.copy(), axes, list(axes), attrs=_named("share of maps with each pattern"))
        share.loc[{"pattern": "heterogeneous"}] += 0.05 * index
        share.loc[{"pattern": "vertical"}] -= 0.05 * index
        total = share.mean(("layer", "head")).assign_attrs(_named("share of all heads' maps with each pattern"))
        count = xr.DataArray([60] * 5, {"pattern": list(PATTERNS)}, ["pattern"], attrs=_named("examples"))
        part = {"share": share, "share_total": total, "counted": share}
        parts.append(
            xr.Dataset({name: variable for key, array in part.items() for name, variable in _beside(key, array, count)})
        )
    result = xr.concat(parts, xr.Variable("task", list(tasks))) if tasks else parts[0]
    largest = result["share"].argmax("pattern")
    result = result.assign_coords(dominant=largest.copy(data=np.array(PATTERNS)[largest.values]))
    return result.assign(map=_maps()).assign_attrs(profile_result().attrs | {"study": "patterns"})


def _named(name: str) -> dict[str, str]:
    return SOURCE | {"long_name": name, "units": "share of maps"}


def _beside(name: str, array: xr.DataArray, count: xr.DataArray) -> list[tuple[str, xr.DataArray]]:
    bounds = xr.concat([array - 0.01, array + 0.01], xr.Variable("bound", ["lower", "upper"])).transpose(..., "bound")
    return [(name, array), (f"{name}_ci", bounds.assign_attrs(array.attrs)), (f"{name}_n_examples", count)]


def _maps() -> xr.DataArray:
    """One map of each pattern but block: even attention, and 0.7 from the first token to itself."""
    shape, side = (len(PATTERNS), 2), len(TOKENS)
    values, token = np.full((*shape, side + 1, side + 1), np.nan), np.full((*shape, side + 1), "", object)
    values[:, 0, :side, :side] = 0.25
    values[:, 0, 0, :side] = [0.7, 0.1, 0.1, 0.1]
    token[:, 0, :side] = TOKENS
    values[PATTERNS.index("block")], token[PATTERNS.index("block")] = np.nan, ""
    positions, dims = range(1, side + 2), ("pattern", "example")
    of = {"layer": 2, "head": 1, "confidence": 0.98}
    beside = {f"map_{name}": (dims, np.full(shape, value)) for name, value in of.items()}
    coords = {"pattern": list(PATTERNS), "example": [1, 2], "query": positions, "key": positions}
    coords |= beside | {"token": ((*dims, "query"), token)}
    return xr.DataArray(values, coords, (*dims, "query", "key"), attrs=_named("clearest maps of each pattern"))
