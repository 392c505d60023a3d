"""What a search has found: its steps, the model that their parts are cut out of, and an ordinary one beside it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import xarray as xr

from headscope.encoding.encoded import Encoded
from headscope.models.removable_parts import parts_of
from headscope.passes import Settings
from headscope.studies.size.shrink.answers import Answers
from headscope.studies.size.shrink.gate_choice import Train, TrainedGates, gate_step
from headscope.studies.size.shrink.gates import variables
from headscope.studies.size.shrink.judging import Judging
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import ShrinkPlan
from headscope.studies.size.shrink.prices import Shapes, measure
from headscope.studies.size.shrink.record import SearchRecord, Step
from headscope.studies.size.shrink.scores import Outputs
from headscope.studies.size.shrink.search import SizeSearch, found_steps

# Parts are measured on so many texts.
SAMPLE = 128
# The record of the search for an ordinary model.
PORTABLE = "portable.json"


@dataclass(frozen=True)
class FoundSearch:
    """What a search has found.

    * `trained`: the gates, if these have chosen.
    """

    search: SizeSearch
    steps: list[Step]
    trained: TrainedGates | None = None

    @cached_property
    def original(self) -> Original:
        """The model that the parts of the steps are cut out of."""
        measured = self.search.original
        return measured if self.trained is None else self.trained.original(measured)

    @cached_property
    def choice(self) -> Original:
        """The same before any training."""
        measured = self.search.original
        return measured if self.trained is None else self.trained.chosen_of(measured)

    def variables(self) -> dict[str, xr.DataArray]:
        """The result variables of the gates."""
        return {} if self.trained is None else variables(self.trained.log_alphas, self.steps[-1].size)

    def facts(self) -> dict[str, Any]:
        """The speeds of the steps and whether the target is reached; of gates their epochs and their expected price."""
        speeds = [1 / step.share for step in self.steps]
        reached = {"reached": self.search.met(self.steps[-1]), "speeds": speeds}
        if self.trained is None:
            return reached
        return reached | {"gates": {**self.trained.trained_for, "expected_price": self.trained.excess}}


def search_for(
    original: Original,
    answers: Answers,
    inputs: list[Encoded],
    plan: ShrinkPlan,
    shapes: Shapes,
    record: SearchRecord,
    settings: Settings,
    train: Train,
) -> FoundSearch:
    """Search for a smaller model, from the record of a run that was killed on.

    * `original`: the whole model, whose parts go in the order of the method; `inputs`: the texts of the search.
    * `train`: trains gates, if these choose.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted.
    """
    stored, inputs = record.read(), inputs[:SAMPLE]
    if stored is None:  # the training of another run, too
        record.remove()
    before = answers.of(original.model, inputs, settings)
    # with other prices a search would end elsewhere
    prices = stored.prices if stored else measure(original, shapes)
    search = SizeSearch(original, answers, inputs, before, prices, plan.target, plan.groups, settings)
    begun = search.begun()
    if plan.method != "gates" or search.met(begun.steps[0]):
        return FoundSearch(search, found_steps(search, record, stored, best_effort=plan.best_effort))
    record.save(begun)  # gates go on by themselves
    step, trained = gate_step(search, train, best_effort=plan.best_effort)
    settings.on_progress(1)
    return FoundSearch(search, [*begun.steps, step], trained)


def portable_beside(
    judging: Judging, before: Outputs, fine: FoundSearch, record: SearchRecord
) -> tuple[dict[str, xr.DataArray], dict[str, Any]]:
    """What an ordinary class costs: the model of the same target that the search finds without `--fine`, beside it.

    Both are measured on the same texts with the same prices. Steps are recorded, so that a run that was killed goes on.

    * `before`: the outputs of the whole model for held-out texts.

    Returns: variables, and facts: how fast and large the ordinary model is, in how many steps, and whether it reaches
    the target.
    """
    measured = fine.search.original
    even = replace(measured, parts=parts_of(measured.model), fine=False, least_heads=1, least_neurons=1)
    beside = replace(fine.search, original=even, settings=judging.settings.quiet)
    record = replace(record, path=record.path.with_name(PORTABLE))
    steps = found_steps(beside, record, record.read(), best_effort=True)
    models = even.cut(steps[-1].size), measured.cut(fine.steps[-1].size)
    outputs = [before, *map(judging.outputs, models)]
    facts = {
        "speed": 1 / steps[-1].share,
        "megabytes": steps[-1].megabytes,
        "steps": len(steps) - 1,
        "reached": beside.met(steps[-1]),
    }
    # what the fine model gains beside the ordinary one, on the same examples and resamples
    return judging.variables(outputs, "portable_score", "fine_gain", 1), {"portable": facts}
