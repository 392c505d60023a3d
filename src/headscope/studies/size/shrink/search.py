"""Search for a smaller model: at each step that part goes which costs least for each unit of time or size saved."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from math import inf

from headscope.capture.layer_stack import instead
from headscope.cluster.engine import Tasks
from headscope.cluster.forked import ForkedEngine
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.gated import silenced
from headscope.models.removable_parts import parts_of
from headscope.passes.settings import Settings
from headscope.storage.codec import decode, encode
from headscope.studies.size.shrink.answers import Answers
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import KINDS, SizeTarget
from headscope.studies.size.shrink.prices import Prices, layer_megabytes
from headscope.studies.size.shrink.record import SearchRecord, SearchState, Step
from headscope.studies.size.shrink.scores import Outputs, change
from headscope.studies.size.shrink.sizes import Size

# A part is worth so little at least that rounding does not decide.
LEAST = 1e-9


@dataclass(frozen=True)
class SizeSearch:
    """A search and what it measures on.

    * `inputs`: texts of the training split; `before`: the outputs of the whole model for them.
    * `groups`: a step removes one of so many groups of neurons.
    """

    original: Original
    answers: Answers
    inputs: Sequence[Encoded]
    before: Outputs
    prices: Prices
    target: SizeTarget
    groups: int
    settings: Settings

    def met(self, step: Step) -> bool:
        """Whether a step reaches the target."""
        return self.target.fast_enough(step.share) and self.target.small_enough(step.megabytes)

    def begun(self) -> SearchState:
        """The search at the whole model, without what goes in any case."""
        size = self.original.size
        start = Step("", size, 0.0, 0.0, self.original.megabytes(self.original.model, size), 1.0)
        return SearchState(self.prices, [start])

    def changed(self, model: Model) -> float:
        """The change of the outputs of a model from those of the whole one."""
        return change(self.before, self.answers.of(model, self.inputs, self.settings))

    def next(self, last: Step, now: Model, known: dict[str, float]) -> tuple[Step, Model] | None:
        """The step that saves most for each unit of change, and its model; None if no part is left.

        Only parts that may come first count: one whose last known worth is lower waits, since parts of a smaller
        model hardly cost less (lazy greedy search, Minoux 1978). Workers share what is measured at once.

        * `now`: the model of the last step.
        * `known`: what each part was worth when it was last measured; it is written to.
        """
        unit = "size" if self.target.fast_enough(last.share) else "time"
        parts = dict(self.original.smaller(last.size, self.groups))
        steps, ahead = dict[str, Step](), dict[str, Step]()

        def value(part: str) -> float:
            return known.get(f"{part}, {unit}", inf)

        while parts:
            part = max(parts, key=value)
            if value(part) <= 0:
                return None
            if part in steps:
                return replace(steps[part], estimate=self._estimate(last, steps[part])), self.original.cut(parts[part])
            if part not in ahead:
                worth = {other: value(other) for other in parts if other not in steps | ahead}
                asked = asked_ahead(worth, self.settings.workers)
                ahead |= self._steps({other: parts[other] for other in asked}, last, now)
            step = steps[part] = ahead[part]
            known[f"{part}, {unit}"] = self._saved(last, step) / max(step.change - last.change, LEAST)
        return None

    def _steps(self, sizes: Mapping[str, Size], last: Step, now: Model) -> dict[str, Step]:
        """The step to each size, by the part that it removes; processes share them, with the numbers of a single one.

        Raises `HeadscopeError` where processes cannot be forked with a model.
        """
        parts, workers = [*sizes], min(self.settings.workers, len(sizes))

        def step(number: int) -> Step:
            return self._step(parts[number], sizes[parts[number]], last, now)

        if workers < 2:
            return {part: step(number) for number, part in enumerate(parts)}
        numbers, quiet = range(len(parts)), self.settings.quiet.on_progress
        tasks = Tasks(lambda number, channel: encode(step(number)), numbers, "step", dict, quiet)
        with closing(ForkedEngine(workers, self.original.model.device).values(tasks)) as values:
            return {part: decode(value, Step) for part, value in zip(parts, values, strict=True)}

    def _step(self, part: str, size: Size, last: Step, now: Model) -> Step:
        """The step that removes a part, without its estimate."""
        share = self.prices.share(size, self.original.size)
        if part.startswith("layer") and not self.original.fine:  # skipped in the model of the last step
            moved, weighs = self._without_layer(now, part, last.size), last.megabytes - layer_megabytes(now)
        else:
            smaller = self.original.cut(size)
            moved, weighs = self.changed(smaller), self.original.megabytes(smaller, size)
        return Step(part, size, moved, 0.0, weighs, share)

    def _saved(self, last: Step, step: Step) -> float:
        """Time saved, as a share of the whole model's, and megabytes once it is fast enough; no more than is wanted."""
        if not self.target.fast_enough(last.share):
            return last.share - max(step.share, 1 / (self.target.speed or inf))
        return last.megabytes - max(step.megabytes, self.target.megabytes or 0.0)

    def _without_layer(self, model: Model, part: str, size: Size) -> float:
        """The change of the outputs of a model of a size, of which one layer is skipped."""
        layer = parts_of(model).stack.layers[size.layers.index(int(part.split()[1]) - 1)]
        with ExitStack() as context:
            context.enter_context(instead({layer: lambda states, *_, **__: states}))
            return self.changed(model)

    def _estimate(self, last: Step, step: Step) -> float:
        """The change of the outputs by the part of a step alone, silenced in the whole model without a fit."""
        before, after = (size.alone(step.part, self.original.size) for size in (last.size, step.size))
        return self.silenced(self.original, after) - self.silenced(self.original, before)

    def silenced(self, original: Original, size: Size) -> float:
        """The change of the outputs of the whole model without the parts that a size lacks.

        * `original`: says which parts these are.
        """
        if size == self.original.size:
            return 0.0
        if size.embeddings:
            return self.changed(self.original.cut(size))
        with silenced(self.original.model, original.kept(size)):
            return self.changed(self.original.model)


def asked_ahead(worth: Mapping[str, float], workers: int) -> list[str]:
    """The parts whose steps are measured at once, the best first.

    Those that were never measured have to be, before any other is taken. Of others only the best surely has to be:
    further ones are measured by workers that had nothing to do, and count for nothing if the search does not ask.

    * `worth`: of the parts that are not measured in this step, by the last time; infinite for never.

    >>> asked_ahead({"neurons": 1.0, "layer 1": inf, "layer 2": inf}, 2)
    ['layer 1', 'layer 2']
    >>> asked_ahead({"neurons": 1.0, "layer 1": 3.0, "layer 2": 2.0}, 2)
    ['layer 1', 'layer 2']
    """
    ordered = sorted(worth, key=lambda part: -worth[part])
    unknown = [part for part in ordered if worth[part] == inf]
    return unknown if workers > 1 and len(unknown) > 1 else ordered[:workers]


def found_steps(
    search: SizeSearch, record: SearchRecord, stored: SearchState | None, *, best_effort: bool
) -> list[Step]:
    """The steps of a search up to the first that reaches the target, each saved as soon as it is done.

    * `stored`: the steps of a run that was killed.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted (`best_effort`).
    """
    state = stored or search.begun()
    steps = state.steps
    record.save(state)
    search.settings.on_progress(len(steps) - 1)
    now = search.original.cut(steps[-1].size)
    while not search.met(steps[-1]):
        further = search.next(steps[-1], now, state.known)
        if further is None:
            if best_effort:
                break
            raise HeadscopeError(unmet(search, steps[-1]))
        step, now = further
        steps.append(step)
        record.save(state)
        search.settings.on_progress(1)
    return steps


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
