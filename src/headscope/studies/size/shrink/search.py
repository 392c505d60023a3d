"""Search for a smaller model: at each step that part goes which costs least for each unit of time or size saved."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import xarray as xr

from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import KINDS, ShrinkPlan, Size, SizeTarget
from headscope.studies.size.shrink.prices import Prices, Shapes, measure
from headscope.studies.size.shrink.record import SearchRecord, SearchState, Step
from headscope.studies.size.shrink.scores import Outputs, change

# A part is worth so little at least that rounding does not decide.
LEAST = 1e-9
# Parts are measured on this many texts.
SAMPLE = 128


@dataclass(frozen=True)
class SizeSearch:
    """A search and what it measures on.

    * `inputs`: texts of the training split; `before`: the outputs of the whole model for them.
    * `groups`: a step removes one of this many groups of neurons.
    """

    original: Original
    judge: Judge
    inputs: Sequence[Encoded]
    before: Outputs
    prices: Prices
    target: SizeTarget
    groups: int

    def met(self, step: Step) -> bool:
        """Whether a step reaches the target."""
        return self.target.fast_enough(step.share) and self.target.small_enough(step.megabytes)

    @property
    def start(self) -> Step:
        """The whole model, without what goes in any case."""
        size = self.original.size
        return Step("", size, 0.0, self.original.megabytes(self.original.model, size), 1.0)

    def next(self, last: Step, known: dict[str, float]) -> Step | None:
        """The step that saves most for each unit of change; None if no part is left.

        Only parts that may come first count: one whose last known worth is lower waits, since parts of a smaller
        model hardly cost less (lazy greedy search, Minoux 1978).

        * `known`: what each part was worth when it was last measured; it is written to.
        """
        unit = "size" if self.target.fast_enough(last.share) else "time"
        parts = dict(self.original.smaller(last.size, self.groups))
        steps = dict[str, Step]()

        def value(part: str) -> float:
            return known.get(f"{part}, {unit}", inf)

        while parts:
            part = max(parts, key=value)
            if value(part) <= 0:
                return None
            if part in steps:
                return steps[part]
            step = steps[part] = self.step(part, parts[part])
            known[f"{part}, {unit}"] = self._saved(last, step) / max(step.change - last.change, LEAST)
        return None

    def step(self, part: str, size: Size) -> Step:
        """The step that removes a part."""
        smaller, share = self.original.cut(size), self.prices.share(size, self.original.size)
        changed = change(self.before, self.judge.outputs(smaller, self.inputs))
        return Step(part, size, changed, self.original.megabytes(smaller, size), share)

    def _saved(self, last: Step, step: Step) -> float:
        """Time saved, as a share of the whole model's, and megabytes once it is fast enough; no more than is wanted."""
        if not self.target.fast_enough(last.share):
            return last.share - max(step.share, 1 / (self.target.speed or inf))
        return last.megabytes - max(step.megabytes, self.target.megabytes or 0.0)


def found_steps(
    search: SizeSearch, record: SearchRecord, stored: SearchState | None, *, best_effort: bool
) -> list[Step]:
    """The steps of a search up to the first that reaches the target, each saved as soon as it is done.

    * `stored`: the steps of a run that was killed.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted (`best_effort`).
    """
    state = stored or SearchState(search.prices, [search.start])
    steps = state.steps
    record.save(state)
    search.judge.settings.on_progress(len(steps) - 1)
    while not search.met(steps[-1]):
        step = search.next(steps[-1], state.known)
        if step is None:
            if best_effort:
                break
            raise HeadscopeError(unmet(search, steps[-1]))
        steps.append(step)
        record.save(state)
        search.judge.settings.on_progress(1)
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


@dataclass(frozen=True)
class FoundSize:
    """What a search has found.

    * `original`: the model that the parts of the steps are cut out of; `untrained`: the same before any training.
    * `variables`, `gates`: of the result, where gates have chosen.
    """

    search: SizeSearch
    steps: list[Step]
    original: Original
    untrained: Original
    variables: dict[str, xr.DataArray] = field(default_factory=dict)
    gates: dict[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, Any]:
        """Whether the target is reached, and the speeds of the steps; of gates their epochs and expected price."""
        reached = self.search.met(self.steps[-1])
        return {"reached": reached, "speeds": [1 / step.share for step in self.steps], **self.gates}


def begun(
    original: Original, judge: Judge, plan: ShrinkPlan, shapes: Shapes, record: SearchRecord
) -> tuple[SizeSearch, SearchState | None]:
    """A search with its prices, and the steps of a run that was killed; None without any."""
    stored, inputs = record.read(), judge.training[:SAMPLE]
    if stored is None:  # the training of another run, too
        record.remove()
    # with other prices a search would end elsewhere
    prices = stored.prices if stored else measure(original, shapes)
    before = judge.outputs(original.model, inputs)
    return SizeSearch(original, judge, inputs, before, prices, plan.target, plan.groups), stored
