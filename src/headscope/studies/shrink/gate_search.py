"""A smaller model by trained gates in the place of a search: its size, and the parts that stay."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import xarray as xr

from headscope.errors import HeadscopeError
from headscope.models.silenced import silenced
from headscope.outputs.size_and_speed import megabytes
from headscope.studies.shrink.answers import change
from headscope.studies.shrink.expected_price import ExpectedPrice, part_megabytes
from headscope.studies.shrink.gate_choice import TrainedGates, chosen, smallest
from headscope.studies.shrink.gate_variables import variables
from headscope.studies.shrink.goal import Goal, Stored
from headscope.studies.shrink.record import SearchRecord
from headscope.studies.shrink.search import SizeSearch, unmet
from headscope.studies.shrink.sizes import AnySize, Original
from headscope.studies.shrink.step_files import StepFiles
from headscope.studies.shrink.steps import Step
from headscope.studies.shrink.target import SizeTarget

PART = "gates"
Train = Callable[[ExpectedPrice, float], TrainedGates]
# What two ways to add up the same bytes may differ by, as a share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class GateSearch:
    """What gates have found, or a search without them.

    * `steps`: the whole model, and that without the closed parts; `reached`: whether it meets the target.
    * `trained`: the gates; None where the target is met without.
    * `files`: of the steps in eight bits; None where eight bits are no step.
    """

    reached: bool
    steps: list[Step]
    trained: TrainedGates | None = None
    files: StepFiles | None = None

    def choice(self, measured: Original) -> Original:
        """The model before gates, whose neurons and heads are valued by them."""
        return measured if self.trained is None else self.trained.chosen_of(measured)

    def original(self, measured: Original) -> Original:
        """The model that parts are cut out of."""
        return measured if self.trained is None else self.trained.original(measured)

    def most_of_file(self, target: SizeTarget) -> float | None:
        """The most megabytes of the file of eight bits; None where the model in float32 meets the target."""
        return target.megabytes if self.steps[-1].eight_bit else None

    def variables(self) -> dict[str, xr.DataArray]:
        """The result variables of the gates."""
        if self.trained is None:
            return {}
        return variables(self.trained.log_alphas, self.steps[-1].size)

    def facts(self) -> dict[str, Any]:
        """The epochs of the gates and their expected price, as times the target."""
        if self.trained is None:
            return {}
        return {"gates": {**self.trained.trained_for, "expected_price": self.trained.excess}}


def refuse_without_target(method: str, target: SizeTarget, kinds: tuple[str, ...] = ()) -> None:
    """Raise `HeadscopeError` for gates without a speed or a size, or for narrower embeddings by gates."""
    if method == "gates" and target.within:
        raise HeadscopeError(
            "--method gates trains towards a speed or a size: give --speed or --size, and leave --within-interval out"
        )
    if method == "gates" and "embeddings" in kinds:
        raise HeadscopeError("--method gates has no gates of embeddings; leave embeddings out of --parts")


def gate_search(
    search: SizeSearch,
    goal: Goal,
    record: SearchRecord,
    stored: Stored,
    train: Train,
) -> GateSearch:
    """Train gates towards the target, and close those that go; prices are those of the record of a run that was killed.

    * `train`: trains them for a price; its second argument is the lowest that can be reached, as times the target.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted.
    """
    start, original = search.start(), search.original.size
    if stored is None:
        record.save({"prices": search.prices.as_json(), "steps": [start.as_json()], "known": {}})
    if search.met(start):
        return GateSearch(True, [start], None)
    parts, even = part_megabytes(search.original, search.fixed), not search.original.fine
    price = ExpectedPrice(search.prices, parts, search.target, original, even)
    least = smallest(search.original, search.groups)
    if price.of(least) > 1 and not goal.best_effort:
        share = search.prices.share(least, original)
        raise HeadscopeError(unmet(search, Step("", least, 0.0, 0.0, price.sizes.of(least, original), share)))
    trained = train(price, price.of(least))
    size = chosen(trained.log_alphas, original, least, lambda some: price.of(some) <= 1 - ROUNDING)
    step = _step(search, trained.original(search.original), size)
    return GateSearch(search.met(step), [start, step], trained)


def _step(search: SizeSearch, by_gates: Original, size: AnySize) -> Step:
    """The step to a size; its estimate is the change of the untrained model with the closed parts silenced."""
    smaller, untrained = by_gates.cut(size), search.original.model
    moved = change(search.before, search.answers.of(smaller, search.inputs, search.settings))
    with silenced(untrained, by_gates.kept(size)):
        alone = change(search.before, search.answers.of(untrained, search.inputs, search.settings))
    share = search.prices.share(size, search.original.size)
    return Step(PART, size, moved, alone, megabytes(smaller) - search.fixed, share)
