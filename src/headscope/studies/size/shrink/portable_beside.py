"""What an ordinary class costs: the model that the search finds without `--fine`, at the same target."""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from headscope.models.removable_parts import parts_of
from headscope.results.variables import Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.answers import quiet
from headscope.studies.size.shrink.found_search import FoundSearch
from headscope.studies.size.shrink.judging import Evidence, Judging
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.record import SearchRecord
from headscope.studies.size.shrink.scores import Outputs
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
    beside = replace(fine.search, original=even, settings=quiet(judging.settings))
    record = replace(record, path=record.path.with_name(FILE))
    steps = found_steps(beside, record, record.read(), best_effort=True)
    outputs = [evidence.before, judging.outputs(even.cut(steps[-1].size))]
    outputs.append(judging.outputs(fine.search.original.cut(fine.steps[-1].size)))
    facts = {
        "speed": 1 / steps[-1].share,
        "megabytes": steps[-1].megabytes,
        "steps": len(steps) - 1,
        "reached": beside.met(steps[-1]),
    }
    return variables(judging, outputs), {"portable": facts}


def ordinary(original: Original) -> Original:
    """The model whose layers have to keep the same numbers, which its class can hold."""
    return replace(original, parts=parts_of(original.model), fine=False, least_heads=1, least_neurons=1)


def variables(judging: Judging, outputs: list[Outputs]) -> dict[str, xr.DataArray]:
    """The score of an ordinary model, and what the fine one gains beside it, on the same examples and resamples.

    * `outputs`: of the whole model, the ordinary one, and the fine one.
    """
    scores = judging.scores(outputs)
    gain = judging.answers.last_gain(outputs, scores, judging.tolerance, judging.settings)
    arrays = Variables({"metric": scores.metrics}, STUDY.source, STUDY.labels)
    arrays.add("portable_score", scores.values[1], interval=scores.bounds[1], count=len(outputs[0]))
    arrays.add("fine_gain", np.float64(gain[0]), interval=gain[1:], count=len(outputs[0]))
    return arrays.arrays
