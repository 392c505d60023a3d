"""Search for a smaller model: at each step that part goes which costs least for each unit of time or size saved."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import inf

from headscope.capture.layer_stack import instead
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.removable_parts import parts_of
from headscope.outputs.size_and_speed import megabytes
from headscope.passes.settings import Settings
from headscope.studies.shrink.answers import ModelAnswers, Outputs, change
from headscope.studies.shrink.found_search import FoundSearch
from headscope.studies.shrink.measured_steps import StepMeasuring, asked_ahead
from headscope.studies.shrink.parts_alone import estimate
from headscope.studies.shrink.prices import Prices
from headscope.studies.shrink.record import SearchRecord, SearchState
from headscope.studies.shrink.sizes import AnySize, Original
from headscope.studies.shrink.steps import Step
from headscope.studies.shrink.target import KINDS, SizeTarget

# A part is worth so little at least that rounding does not decide.
LEAST = 1e-9


@dataclass(frozen=True)
class SizeSearch:
    """A search and what it measures on.

    * `inputs`: texts of the training split; `before`: the outputs of the whole model for them.
    * `fixed`: megabytes that go in any case, such as those of unused pieces.
    """

    original: Original
    answers: ModelAnswers
    inputs: Sequence[Encoded]
    before: Outputs
    prices: Prices
    target: SizeTarget
    groups: int
    fixed: float
    settings: Settings

    def met(self, step: Step) -> bool:
        """Whether a step reaches the target."""
        return self.target.fast_enough(step.share) and self.target.small_enough(step.megabytes)

    def start(self) -> Step:
        """The whole model, without what goes in any case."""
        return Step("", self.original.start, 0.0, 0.0, megabytes(self.original.model) - self.fixed, 1.0)

    def next(self, last: Step, now: Model, known: dict[str, float]) -> tuple[Step, Model] | None:
        """The step that saves most for each unit of change, and its model; None if no part is left.

        Only parts that may come first count: one whose last known worth is lower waits, since parts of a smaller
        model hardly cost less (lazy greedy search, Minoux 1978). Workers share what is measured at once.

        * `now`: the model of the last step.
        * `known`: what each part was worth when it was last measured; it is written to.
        """
        unit = "size" if self.target.fast_enough(last.share) else "time"
        parts: dict[str, AnySize] = dict(last.size.smaller(self.original, self.groups))
        steps: dict[str, Step] = {}
        ahead: dict[str, Step] = {}
        measuring = StepMeasuring(
            lambda part: self._step(part, parts[part], last, now), self.settings, self.original.model.device
        )

        def value(part: str) -> float:
            return known.get(f"{part}, {unit}", inf)

        while parts:
            part = max(parts, key=value)
            if value(part) <= 0:
                return None
            if part in steps:
                step = replace(steps[part], estimate=estimate(self, last, steps[part]))
                return step, self.original.cut(parts[part])
            if part not in ahead:
                worth = {one: value(one) for one in parts if one not in steps | ahead}
                ahead |= measuring.steps(asked_ahead([*worth], worth, self.settings.workers))
            step = steps[part] = ahead[part]
            known[f"{part}, {unit}"] = self._saved(last, step) / max(step.change - last.change, LEAST)
        return None

    def _step(self, part: str, size: AnySize, last: Step, now: Model) -> Step:
        """The step that removes a part, without its estimate."""
        skips = part.startswith("layer") and not self.original.fine
        smaller = now if skips else self.original.cut(size)
        moved, share = self._change(smaller, part, last.size), self.prices.share(size, self.original.size)
        weighs = last.megabytes - layer_megabytes(now) if smaller is now else self._weight(smaller, size)
        return Step(part, size, moved, 0.0, weighs, share)

    def _weight(self, smaller: Model, size: AnySize) -> float:
        """Megabytes of a model of a size as it is saved."""
        return megabytes(smaller) - self.fixed - self.original.saved_megabytes(size)

    def _saved(self, last: Step, step: Step) -> float:
        """Time saved, as a share of the whole model's, and megabytes once it is fast enough; no more than is wanted."""
        if not self.target.fast_enough(last.share):
            return last.share - max(step.share, 1 / (self.target.speed or inf))
        return last.megabytes - max(step.megabytes, self.target.megabytes or 0.0)

    def _change(self, model: Model, part: str, before: AnySize) -> float:
        """The change of the outputs of a model, whose layer of this name is skipped if it still has it."""
        with ExitStack() as context:
            if part.startswith("layer") and not self.original.fine:
                layers = parts_of(model).stack.layers
                layer = layers[before.layers.index(int(part.split()[1]) - 1)]
                context.enter_context(instead({layer: lambda states, *_, **__: states}))
            return change(self.before, self.answers.of(model, self.inputs, self.settings))


def layer_megabytes(model: Model) -> float:
    """Megabytes of the first layer of a model; all are alike."""
    layer = parts_of(model).stack.layers[0]
    return sum(weight.numel() * weight.element_size() for weight in layer.parameters()) / 1e6


def found_steps(
    search: SizeSearch, record: SearchRecord, stored: SearchState | None, *, best_effort: bool
) -> list[Step]:
    """The steps of a search up to the first that reaches the target, each saved as soon as it is done.

    * `stored`: the steps of a run that was killed.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted (`best_effort`).
    """
    state = stored or SearchState(search.prices, [search.start()])
    steps, known = state.steps, state.known
    record.save(state)
    now = search.original.cut(steps[-1].size)
    while not search.met(steps[-1]):
        further = search.next(steps[-1], now, known)
        if further is None:
            if best_effort:
                break
            raise HeadscopeError(unmet(search, steps[-1]))
        step, now = further
        steps.append(step)
        record.save(state)
        search.settings.on_progress(1)
    return steps


def searched(search: SizeSearch, stored: SearchState | None, record: SearchRecord, *, best_effort: bool) -> FoundSearch:
    """The steps up to the target; see `found_steps`."""
    search.settings.on_progress(len(stored.steps) - 1 if stored else 0)
    steps = found_steps(search, record, stored, best_effort=best_effort)
    return FoundSearch(search.met(steps[-1]), steps)


def unmet(search: SizeSearch, nearest: Step) -> str:
    """The line for a target that is not reached, with the nearest size that was found."""
    speed = 1 / nearest.share if nearest.share else inf
    name, wanted, kinds = search.original.model.name, search.target.words(), search.original.kinds
    alone = "" if kinds[: len(KINDS)] == KINDS else f" without {' or '.join(kinds)}"
    holds = "" if search.original.fine else " that its class can hold"
    return (
        f"model '{name}' cannot be {wanted}: the smallest{alone}{holds} is "
        f"{speed:.2f} times as fast and has {nearest.megabytes:.3g} MB; ask for that, or write it with --best-effort"
    )
