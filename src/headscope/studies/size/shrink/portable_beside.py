"""What an ordinary class costs: the model that the search finds without `--fine`, at the same target."""

from dataclasses import replace
from typing import Any

import xarray as xr

from headscope.models.removable_parts import parts_of
from headscope.studies.size.shrink.evidence import Evidence
from headscope.studies.size.shrink.found_search import FoundSearch
from headscope.studies.size.shrink.judging import Judging
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.record import SearchRecord
from headscope.studies.size.shrink.search import found_steps

FILE = "portable.json"


def portable_beside(
    judging: Judging, evidence: Evidence, fine: FoundSearch, record: SearchRecord
) -> tuple[dict[str, xr.DataArray], dict[str, Any]]:
    """Search for an ordinary model on the same texts with the same prices, and score it beside the fine one.

    Its steps are recorded beside those of the search, so that a run that was killed goes on.

    Returns: variables, and facts: how fast and large the ordinary model is, in how many steps, and whether it reaches
    the target.
    """
    even = ordinary(fine.search.original)
    beside = replace(fine.search, original=even, settings=judging.settings.quiet)
    record = replace(record, path=record.path.with_name(FILE))
    steps = found_steps(beside, record, record.read(), best_effort=True)
    models = even.cut(steps[-1].size), fine.search.original.cut(fine.steps[-1].size)
    outputs = [evidence.before, *map(judging.outputs, models)]
    facts = {
        "speed": 1 / steps[-1].share,
        "megabytes": steps[-1].megabytes,
        "steps": len(steps) - 1,
        "reached": beside.met(steps[-1]),
    }
    # what the fine model gains beside the ordinary one, on the same examples and resamples
    return judging.variables(outputs, "portable_score", "fine_gain", 1), {"portable": facts}


def ordinary(original: Original) -> Original:
    """The model whose layers have to keep the same numbers, which its class can hold."""
    return replace(original, parts=parts_of(original.model), fine=False, least_heads=1, least_neurons=1)
