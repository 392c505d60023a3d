"""Search for a smaller model: at each step that part goes which costs least for each unit of time or size saved."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from headscope.capture.layer_stack import instead
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.smaller import parts_of, silenced
from headscope.outputs.size_and_speed import megabytes
from headscope.passes.settings import Settings
from headscope.studies.shrink.answers import Answers, Outputs, change
from headscope.studies.shrink.prices import Prices, measure, prices_from
from headscope.studies.shrink.record import SearchRecord
from headscope.studies.shrink.sizes import Original, Size, size_from
from headscope.studies.shrink.target import Target

# A part is worth so little at least that rounding does not decide.
LEAST = 1e-9


@dataclass(frozen=True)
class Step:
    """A step of the search.

    * `part`: what was removed; empty for the whole model.
    * `change`: of the outputs of the model after it, from those of the whole model (`answers.change`).
    * `estimate`: the change when the part alone is silenced in the whole model, without a fit.
    * `megabytes`, `share`: the size, and the expected share of the whole model's time.
    """

    part: str
    size: Size
    change: float
    estimate: float
    megabytes: float
    share: float

    def as_json(self) -> dict[str, Any]:
        """The step as JSON stores it."""
        return vars(self) | {"size": self.size.as_json()}


@dataclass(frozen=True)
class Search:
    """A search and what it measures on.

    * `inputs`: texts of the training split; `before`: the outputs of the whole model for them.
    * `fixed`: megabytes that go in any case, such as those of unused pieces.
    """

    whole: Original
    answers: Answers
    inputs: Sequence[Encoded]
    before: Outputs
    prices: Prices
    target: Target
    groups: int
    fixed: float
    settings: Settings

    def met(self, step: Step) -> bool:
        """Whether a step reaches the target."""
        return self.target.fast_enough(step.share) and self.target.small_enough(step.megabytes)

    def start(self) -> Step:
        """The whole model, without what goes in any case."""
        return Step("", self.whole.size, 0.0, 0.0, megabytes(self.whole.model) - self.fixed, 1.0)

    def next(self, last: Step, now: Model, known: dict[str, float]) -> tuple[Step, Model] | None:
        """The step that saves most for each unit of change, and its model; None if no part is left.

        Only parts that may come first are measured: one whose last known worth is lower waits, since parts of a smaller
        model hardly cost less (lazy greedy search, Minoux 1978).

        * `now`: the model of the last step.
        * `known`: what each part was worth when it was last measured; it is written to.
        """
        unit = "size" if self.target.fast_enough(last.share) else "time"
        parts, steps = dict(last.size.smaller(self.whole, self.groups)), dict[str, Step]()

        def worth(part: str) -> float:
            return known.get(f"{part}, {unit}", inf)

        while parts:
            part = max(parts, key=worth)
            if worth(part) <= 0:
                return None
            if part in steps:
                step = replace(steps[part], estimate=self._estimate(last, steps[part]))
                return step, self.whole.cut(step.size)
            step = steps[part] = self._step(part, parts[part], last, now)
            known[f"{part}, {unit}"] = self._saved(last, step) / max(step.change - last.change, LEAST)
        return None

    def _step(self, part: str, size: Size, last: Step, now: Model) -> Step:
        """The step that removes a part, without its estimate."""
        smaller = now if part.startswith("layer") else self.whole.cut(size)
        weighs = last.megabytes - _layer_megabytes(now) if smaller is now else megabytes(smaller) - self.fixed
        moved, share = self._change(smaller, part, last.size), self.prices.share(size, self.whole.size)
        return Step(part, size, moved, 0.0, weighs, share)

    def _saved(self, last: Step, step: Step) -> float:
        """Time saved, as a share of the whole model's; megabytes once the model is fast enough."""
        if not self.target.fast_enough(last.share):
            return last.share - step.share
        return last.megabytes - step.megabytes

    def _change(self, model: Model, part: str, before: Size) -> float:
        """The change of the outputs of a model, whose layer of this name is skipped."""
        with ExitStack() as context:
            if part.startswith("layer"):
                layers = parts_of(model).stack.layers
                layer = layers[before.layers.index(int(part.split()[1]) - 1)]
                context.enter_context(instead({layer: lambda states, *_, **__: states}))
            return change(self.before, self.answers.of(model, self.inputs, self.settings))

    def _estimate(self, last: Step, step: Step) -> float:
        """The change by the part alone, silenced in the whole model."""
        before, after = (_alone(step.part, size, self.whole.size) for size in (last.size, step.size))
        return self._silenced(after) - self._silenced(before)

    def _silenced(self, size: Size) -> float:
        if size == self.whole.size:
            return 0.0
        with silenced(self.whole.model, self.whole.kept(size)):
            return change(self.before, self.answers.of(self.whole.model, self.inputs, self.settings))


def _alone(part: str, size: Size, whole: Size) -> Size:
    """The whole model without what a size lacks of the kind of a part; of layers, the one that the part names."""
    if part == "neurons":
        return replace(whole, width=size.width)
    if part == "heads":
        return replace(whole, heads=size.heads)
    layer = int(part.split()[1]) - 1
    return replace(whole, layers=tuple(kept for kept in whole.layers if kept != layer or layer in size.layers))


def _layer_megabytes(model: Model) -> float:
    layer = parts_of(model).stack.layers[0]
    return sum(weight.numel() * weight.element_size() for weight in layer.parameters()) / 1e6


def found_steps(
    search: Search, record: SearchRecord, stored: dict[str, Any] | None, *, best_effort: bool
) -> list[Step]:
    """The steps of a search up to the first that reaches the target, each saved as soon as it is done.

    * `stored`: the steps of a run that was killed.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted (`best_effort`).
    """

    def save() -> None:
        prices, done = search.prices.as_json(), [step.as_json() for step in steps]
        record.save({"prices": prices, "steps": done, "known": known})

    stored = stored or {}
    steps = [step_from(one) for one in stored.get("steps", [])] or [search.start()]
    known: dict[str, float] = dict(stored.get("known", {}))
    search.settings.on_progress(len(steps) - 1)
    save()
    now = search.whole.cut(steps[-1].size)
    while not search.met(steps[-1]):
        further = search.next(steps[-1], now, known)
        if further is None:
            if best_effort:
                break
            raise HeadscopeError(unmet(search, steps[-1]))
        step, now = further
        steps.append(step)
        save()
        search.settings.on_progress(1)
    return steps


def unmet(search: Search, nearest: Step) -> str:
    """The line for a target that is not reached, with the nearest size that was found."""
    speed = 1 / nearest.share if nearest.share else inf
    return (
        f"model '{search.whole.model.name}' cannot be {search.target.words()}: the smallest that its class can hold is "
        f"{speed:.2f} times as fast and has {nearest.megabytes:.3g} MB; ask for that, or write it with --best-effort"
    )


def step_from(stored: dict[str, Any]) -> Step:
    """The step that `Step.as_json` stored."""
    return Step(**stored | {"size": size_from(stored["size"])})


def prices_of(whole: Original, shapes: Any, record: SearchRecord, stored: dict[str, Any] | None) -> Prices:
    """The prices of a run that was killed, else those measured now: with others a search would end elsewhere."""
    if stored is not None:
        return prices_from(stored["prices"])
    return measure(whole, shapes)
