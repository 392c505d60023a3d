"""What an ordinary class costs: the model that the search finds without `--fine`, at the same target."""

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from headscope.models.removable_parts import parts_of
from headscope.results.variables import Label, Variables
from headscope.studies.shrink import scores as scoring
from headscope.studies.shrink.answers import Outputs
from headscope.studies.shrink.evidence import gains_of, scores_of
from headscope.studies.shrink.judging import Evidence, Judging
from headscope.studies.shrink.record import SearchRecord
from headscope.studies.shrink.search import SizeSearch, found_steps
from headscope.studies.shrink.sizes import AnySize, Original

SOURCE = "the search for an ordinary model at the same target"
HELD_OUT = "held-out examples, before any training, with the whole vocabulary"
LABELS = {
    "portable_score": Label("score of an ordinary model at the same target", "score", ("metric",), HELD_OUT),
    "fine_gain": Label(
        "gain of the main metric by the model whose layers differ beside the ordinary one", "score", (), HELD_OUT
    ),
}
FILE = "portable.json"


def portable_beside(
    judging: Judging, found: Evidence, search: SizeSearch, size: AnySize, record: SearchRecord
) -> tuple[dict[str, xr.DataArray], dict[str, Any]]:
    """Search for an ordinary model on the same texts with the same prices, and score it beside the fine one.

    Its steps are recorded beside those of the search, so that a run that was killed goes on.

    * `search`: that of the fine one; `size`: what it found.

    Returns: variables, and facts: how fast and large the ordinary model is, in how many steps, and whether it reaches
    the target.
    """
    settings = replace(judging.settings, on_progress=lambda done: None)
    even = ordinary(search.original)
    beside = replace(search, original=even, settings=settings)
    own = replace(record, path=record.path.with_name(FILE))
    steps = found_steps(beside, own, own.read(), best_effort=True)
    outputs = [
        found.before,
        judging.answers.of(even.cut(steps[-1].size), judging.held_out, settings),
        judging.answers.of(search.original.cut(size), judging.held_out, settings),
    ]
    facts = {
        "speed": 1 / steps[-1].share,
        "megabytes": steps[-1].megabytes,
        "steps": len(steps) - 1,
        "reached": beside.met(steps[-1]),
    }
    return beside_variables(judging, outputs), {"portable": facts}


def ordinary(original: Original) -> Original:
    """The model whose layers have to keep the same numbers, which its class can hold."""
    return replace(original, parts=parts_of(original.model), fine=False, least_heads=1)


def beside_variables(judging: Judging, outputs: list[Outputs]) -> dict[str, xr.DataArray]:
    """The score of an ordinary model, and what the fine one gains beside it, on the same examples and resamples.

    * `outputs`: of the whole model, the ordinary one, and the fine one.
    """
    task, texts, settings = judging.answers.task, judging.texts, judging.settings
    scores = scores_of(task, outputs, texts, settings)
    if task is None:
        gain = scoring.last_gain(scores, texts.units)
    else:
        gain = gains_of(task, outputs[1:], scores, judging.tolerance, settings)[-1]
    made = Variables({"metric": scores.metrics}, SOURCE, LABELS)
    made.add("portable_score", scores.values[1], interval=scores.bounds[1], count=len(outputs[0]))
    made.add("fine_gain", np.float64(gain[0]), interval=gain[1:], count=len(outputs[0]))
    return made.arrays
