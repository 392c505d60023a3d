"""Heads that attend from one word of a link to the other."""

import xarray as xr

from headscope.report.kinds import by_name
from headscope.report.parts import HeadKind


def kinds(result: xr.Dataset) -> list[HeadKind]:
    """Heads that are special for the links of a relation, named after the one with the most attention."""
    attention = result["link_attention"].where(result["special"] == 1).max("direction")
    named = attention.assign_coords(relation=[_word(name) for name in attention["relation"].values])
    return by_name(named, "relation", "link")


def _word(relation: str) -> str:
    return "links" if relation == "all" else relation
