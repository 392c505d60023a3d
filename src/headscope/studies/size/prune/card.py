"""The place of a head in the order of pruning (Michel et al. 2019)."""

import json
from collections.abc import Iterator

import xarray as xr

from headscope.report.cards.head_numbers import Row, of_variable, ordinal
from headscope.report.parts import Finding
from headscope.report.shared_findings import unlearned


def unit_of(result: xr.Dataset) -> tuple[int, str]:
    """How many query heads were removed at a time, and what of the model these are."""
    how = json.loads(result.attrs["pruning"])
    return how.get("shared", 1), "KV head" if how.get("unit") == "kv" else "head"


def sentences(result: xr.Dataset, numbers: list[Row]) -> Iterator[Finding]:
    """The place of the head in the order of removal."""
    shared, head = unit_of(result)
    gone, total = int(result["removed_at"].count()), int(result["heads_left"].isel(share_removed=0).sum())
    gone, total = gone // shared, total // shared
    how = json.loads(result.attrs["pruning"])["by"]
    order = f"the order by {how} is no test"
    if unlearned(result):
        order = f"{order}, and the task is not learned"
    if rows := of_variable(numbers, "removed_at"):
        rank = ordinal(int(rows[0].value))
        others = "" if shared == 1 else ", with all heads that share its keys,"
        yield Finding(
            "Pruning", f"Removed{others} as the {rank} of {total} {head}s, the least important first ({order})."
        )
    else:
        yield Finding("Pruning", f"Kept: {gone} of {total} {head}s were removed before it ({order}).")
