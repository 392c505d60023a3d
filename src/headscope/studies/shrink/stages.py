"""Reach a target in stages: after each the smaller model is trained, and the search goes on from its weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np
from jaxtyping import Float

from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.removable_parts import Kept, Numbers, parts_of
from headscope.models.silenced import silenced
from headscope.models.written_back import written_back
from headscope.passes.settings import Settings
from headscope.studies.shrink.answers import change
from headscope.studies.shrink.found_search import FoundSearch
from headscope.studies.shrink.goal import Goal
from headscope.studies.shrink.moments import added, added_by_heads, moments_of
from headscope.studies.shrink.plan import ShrinkPlan
from headscope.studies.shrink.record import SearchRecord, SearchState
from headscope.studies.shrink.search import SizeSearch, found_steps
from headscope.studies.shrink.sizes import MOST_TEXTS, AnySize, Original
from headscope.studies.shrink.steps import Step
from headscope.studies.shrink.target import TRAINING, SizeTarget

Values = Sequence[Float[np.ndarray, " part"]]


@dataclass(frozen=True)
class Stages:
    """How a search goes through stages.

    * `number`: of stages; `inputs`: texts on which parts are measured after a training.
    * `train`: trains the model of a size after so many stages; its tables of embeddings stay as they are.
    * `ordered`: the model whose parts go in the order of the method.
    """

    number: int
    inputs: list[Encoded]
    train: Callable[[int, Model, AnySize], Model]
    ordered: Callable[[Original], Original]


def refuse_stages(stages: int, epochs: int, method: str, plan: ShrinkPlan) -> None:
    """Raise `HeadscopeError` for stages that nothing is trained after, or that no target divides."""
    if stages == 1:
        return
    if not epochs:
        raise HeadscopeError(f"--stages {stages} trains after each of them; give --epochs 1 or more, or leave it out")
    others = {
        "--method gates": method == "gates",
        "--within-interval": plan.target.within,
        "a search with eight-bit among its --parts": plan.eight_bit,
    }
    if other := next((name for name, given in others.items() if given), None):
        raise HeadscopeError(f"{other} has no stages: it goes to its end at once; leave --stages {stages} out")


def aims(target: SizeTarget, megabytes: float, stages: int) -> list[SizeTarget]:
    """The target of each stage: speed and size change by the same factor in all of them.

    * `megabytes`: at the start of the search.

    >>> [(aim.speed, aim.megabytes) for aim in aims(SizeTarget(4.0, 16.0), 64.0, 2)]
    [(2.0, 32.0), (4.0, 16.0)]
    """
    shares = [stage / stages for stage in range(1, stages)]
    least = None if target.megabytes is None else min(target.megabytes / megabytes, 1.0)
    between = [
        SizeTarget(
            None if target.speed is None else target.speed**share,
            None if least is None else megabytes * least**share,
        )
        for share in shares
    ]
    return [*between, target]


def staged_search(
    search: SizeSearch, stored: SearchState | None, goal: Goal, record: SearchRecord, stages: Stages
) -> FoundSearch:
    """Search up to the target of each stage, and train after each but the last; go on from the record.

    Raises `HeadscopeError` for a target that no size reaches, unless the nearest is wanted.
    """
    steps, known = (stored.steps, stored.known) if stored else ([search.start()], {})
    originals = [search.original]
    search.settings.on_progress(len(steps) - 1)
    for stage, aim in enumerate(aims(goal.target, steps[0].megabytes, stages.number), start=1):
        now = replace(search, original=originals[-1], target=aim, untrained=search.original)
        if (end := next((number for number, step in enumerate(steps) if now.met(step)), None)) is None:
            so_far = SearchState(search.prices, steps, known)
            steps, known = found_steps(now, record, so_far, best_effort=goal.best_effort), {}
            end = len(steps) - 1
        if stage == stages.number or not now.met(steps[end]):
            break
        if not steps[end].part:  # the stage begins at its target
            continue
        size = steps[end].size
        trained = stages.train(stage, now.original.cut(size), size)
        ordered = stages.ordered(retrained(now.original, size, trained, stages.inputs, search.settings))
        originals.append(without(ordered, now.original.kept(size)))
        if end == len(steps) - 1:
            steps, known = [*steps, _after_training(replace(now, original=originals[-1]), steps[-1])], {}
            record.save(SearchState(search.prices, steps, known))
    return FoundSearch(goal.target.within or search.met(steps[-1]), steps, between=originals[1:], files=search.files)


def _after_training(search: SizeSearch, last: Step) -> Step:
    """The same size with trained weights."""
    outputs = search.answers.of(search.original.cut(last.size), search.inputs, search.settings)
    return replace(last, part=TRAINING, change=change(search.before, outputs), estimate=nan)


def retrained(
    original: Original, size: AnySize, trained: Model, inputs: Sequence[Encoded], settings: Settings
) -> Original:
    """The model with the weights of a trained smaller one, and what its parts that stay add to the states.

    * `size`: of the trained model.
    """
    kept, inputs = original.kept(size), inputs[:MOST_TEXTS]
    model = written_back(original.model, trained, kept, fine=original.fine)
    seen = model
    if original.embeddings is not None and size.embeddings:
        seen = original.embeddings.projected(model, size.embeddings)
    parts = parts_of(seen, fine=original.fine)
    with silenced(seen, kept):
        moments = moments_of(seen, parts, inputs, settings) if original.moments else []
        of_heads = added_by_heads(seen, inputs, settings) if parts.heads else []
    of_neurons = [added(part, one) for part, one in zip(parts.feed_forward or (), moments, strict=True)]
    own = parts_of(model, fine=original.fine)
    return replace(original, model=model, parts=own, moments=moments, of_neurons=of_neurons, of_heads=of_heads)


def without(original: Original, kept: Kept) -> Original:
    """The model whose parts that are gone are valued below all others."""
    return replace(
        original,
        of_neurons=_lowest(original.of_neurons, kept.neurons),
        of_heads=_lowest(original.of_heads, kept.heads),
    )


def _lowest(values: Values, kept: Numbers | None) -> Values:
    if kept is None:
        return values
    both = zip(values, kept, strict=True)
    return [np.where(np.isin(np.arange(len(of_layer)), some), of_layer, -np.inf) for of_layer, some in both]
