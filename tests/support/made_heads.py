"""Models with results made of chosen numbers: what cards of heads are tested with."""

from pathlib import Path

import numpy as np
import xarray as xr

from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import Source
from headscope.results.vocabulary import PATTERNS
from support.patterns_result import patterns_result


def model_of(*found: xr.Dataset) -> MeasuredModel:
    """One model that these results are about."""
    return MeasuredModel(
        ("tiny",), "ab" * 32, tuple(Source(Path(str(number)), one) for number, one in enumerate(found))
    )


def with_maps() -> xr.Dataset:
    """Patterns with the clearest map of head 1-1: 13 tokens, vertical."""
    result, side = patterns_result(), 13
    axes = {"layer": [1, 2], "head": [1, 2], "pattern": list(PATTERNS)}
    positions = np.arange(1, side + 1)
    maps = xr.DataArray(
        np.full((2, 2, 5, side, side), np.nan), axes | {"query": positions, "key": positions}, [*axes, "query", "key"]
    )
    maps.loc[{"layer": 1, "head": 1, "pattern": "vertical"}] = 1 / side
    token = xr.full_like(maps.isel(key=0, drop=True), "", object)
    token.loc[{"layer": 1, "head": 1, "pattern": "vertical"}] = np.array([f"t{at}" for at in range(side)], object)
    beside = {"head_map_token": token, "head_map_confidence": maps.isel(query=0, key=0, drop=True).fillna(0)}
    maps = maps.assign_coords(beside).assign_attrs(long_name="maps", units="share", source="here")
    return result.drop_vars(["map", "token"]).drop_dims(["query", "key"]).assign(head_map=maps)
