"""What a search has found: its steps, and the model that the parts of each are cut out of."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import xarray as xr

from headscope.encoding.encoded import Encoded
from headscope.passes import Settings
from headscope.studies.size.shrink.gate_choice import Train, TrainedGates, gate_step
from headscope.studies.size.shrink.gates import variables
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import ShrinkPlan
from headscope.studies.size.shrink.prices import measure
from headscope.studies.size.shrink.record import SearchRecord, Step
from headscope.studies.size.shrink.search import SizeSearch, found_steps
from headscope.studies.size.shrink.task_answers import Answers
from headscope.studies.size.shrink.timing import Timing

# Parts are measured on so many texts.
SAMPLE = 128


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
    timing: Timing,
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
    prices = stored.prices if stored else measure(original, timing)
    search = SizeSearch(original, answers, inputs, before, prices, plan.target, plan.groups, settings)
    begun = search.begun()
    if plan.method != "gates" or search.met(begun.steps[0]):
        return FoundSearch(search, found_steps(search, record, stored, best_effort=plan.best_effort))
    record.save(begun)  # gates go on by themselves
    step, trained = gate_step(search, train, best_effort=plan.best_effort)
    settings.on_progress(1)
    return FoundSearch(search, [*begun.steps, step], trained)
