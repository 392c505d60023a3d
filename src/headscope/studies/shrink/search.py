"""Search for a smaller model: at each step that part goes which costs least for each unit of time or size saved."""

from collections.abc import Iterator, Sequence
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

    def next(self, last: Step, now: Model) -> tuple[Step, Model] | None:
        """The step that changes the outputs least for each unit saved, and its model; None if no part is left.

        * `now`: the model of the last step.
        """
        found = max(self._candidates(last, now), key=lambda one: one[0], default=None)
        if found is None:
            return None
        _, step = found
        return replace(step, estimate=self._estimate(last, step)), self.whole.cut(step.size)

    def _candidates(self, last: Step, now: Model) -> Iterator[tuple[float, Step]]:
        """The steps that may come next, each with what it saves for each unit of change."""
        for part, size in last.size.smaller(self.whole, self.groups):
            smaller = now if part.startswith("layer") else self.whole.cut(size)
            weighs = megabytes(smaller) - self.fixed
            if smaller is now:
                weighs = last.megabytes - _layer_megabytes(now)
            step = Step(
                part,
                size,
                self._change(smaller, part, last.size),
                0.0,
                weighs,
                self.prices.share(size, self.whole.size),
            )
            saved = self._saved(last, step)
            if saved > 0:
                yield saved / max(step.change - last.change, LEAST), step

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
        return self._silenced(_alone(step, self.whole.size)) - self._silenced(
            _alone(replace(step, size=last.size), self.whole.size)
        )

    def _silenced(self, size: Size) -> float:
        if size == self.whole.size:
            return 0.0
        with silenced(self.whole.model, self.whole.kept(size)):
            return change(self.before, self.answers.of(self.whole.model, self.inputs, self.settings))


def _alone(step: Step, whole: Size) -> Size:
    """The size of the whole model that lacks of a step's size only what is of the kind of its part."""
    if step.part == "neurons":
        return replace(whole, width=step.size.width)
    if step.part == "heads":
        return replace(whole, heads=step.size.heads)
    layer = int(step.part.split()[1]) - 1
    return replace(whole, layers=tuple(kept for kept in whole.layers if kept != layer or layer in step.size.layers))


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
    steps = [step_from(one) for one in (stored or {}).get("steps", [])] or [search.start()]
    search.settings.on_progress(len(steps) - 1)
    now = search.whole.cut(steps[-1].size)
    while not search.met(steps[-1]):
        further = search.next(steps[-1], now)
        if further is None:
            if best_effort:
                break
            raise HeadscopeError(unmet(search, steps[-1]))
        step, now = further
        steps.append(step)
        record.save({"prices": search.prices.as_json(), "steps": [one.as_json() for one in steps]})
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
