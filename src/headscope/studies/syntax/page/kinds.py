"""Heads that find a syntactic relation."""

import xarray as xr

from headscope.report.kinds import by_name
from headscope.report.parts import HeadKind


def kinds(result: xr.Dataset) -> list[HeadKind]:
    """Heads that are special for a relation, named after the one with the largest gain over its fixed offset."""
    special = (result["special"] == 1) & (result["relation"] != "all")
    gain = (result["accuracy"] - result["baseline"]).where(special).max("direction")
    return by_name(gain, "relation", "relation")
