"""What held-out texts say of a smaller model: its scores, those of its steps and of other parts, and who loses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.corpora.tasks import chance
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.removable_parts import Kept, Numbers, parts_of
from headscope.results.variables import Count, Variables
from headscope.studies.size.shrink import STUDY, choices, groups
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.record import SearchRecord, Step
from headscope.studies.size.shrink.scores import Outputs
from headscope.studies.size.shrink.search import FoundSize, found_steps
from headscope.studies.size.shrink.texts import encode
from headscope.studies.size.shrink.vocabulary import held_out_counts

# The record of the search for an ordinary model.
PORTABLE = "portable.json"
KEPT = ("neurons", "output_of_neurons", "heads", "output_of_heads")
Arrays = dict[str, xr.DataArray]


@dataclass(frozen=True)
class Evidence:
    """What held-out texts say of a smaller model.

    * `variables`, `facts`: of the result.
    * `inputs`: the held-out texts as the smaller model reads them.
    * `stays`: the heads that stay.
    """

    variables: Arrays
    facts: dict[str, Any]
    inputs: list[Encoded]
    stays: Bool[np.ndarray, "layer head"]

    def reloaded(self, judge: Judge, written: Model) -> Arrays:
        """The score of the saved model, as it was loaded from its folder."""
        scores = judge.scores([judge.before, judge.outputs(written, self.inputs)])
        added = Variables({"metric": scores.metrics}, STUDY.source, STUDY.labels)
        return {"reloaded_score": added.add("reloaded_score", scores.values[-1])}


def evidence(found: FoundSize, untrained: Model, smaller: Model) -> Evidence:
    """Judge the models of all steps and the smaller one, before its training and after it."""
    judge, measured, size = found.search.judge, found.search.original, found.steps[-1].size
    original, by_parts, inputs = found.original, found.untrained, encode(smaller, judge.texts.held_out)
    outputs = [judge.before, *(judge.outputs(original.cut(step.size)) for step in found.steps[1:])]
    chosen = outputs[-1] if by_parts is original else judge.outputs(by_parts.cut(size))
    others = [judge.outputs(model) for model in choices.other_choices(by_parts, size, judge.settings.seed)]
    outputs += [judge.outputs(model, inputs) for model in (untrained, smaller)]
    read, answered = (judge.held_out, inputs), (outputs[0], outputs[-1])
    kept = original.kept(size)
    stays = heads_that_stay(measured, size, kept)
    decoder = not judge.model.looks_ahead
    arrays = path_variables(judge, found.steps, outputs, [measured.cache(step.size) for step in found.steps * decoder])
    arrays |= choices.variables(judge.scores([outputs[0], chosen, *others])) if others else {}
    arrays |= found.variables | kept_variables(measured, size, kept)
    if measured.fine or "head_gate" in arrays:
        arrays["head_stays"] = Variables({}, STUDY.source, STUDY.labels).add("head_stays", stays.astype(float))
    arrays |= groups.variables(judge, (judge.model, smaller), read, answered)
    facts = {
        "held_out": held_out_counts(judge.model, smaller, *read),
        "tolerance": judge.tolerance,
        "changed": judge.changed(*answered),
    }
    return Evidence(arrays, facts, inputs, stays)


def path_variables(
    judge: Judge, steps: Sequence[Step], outputs: Sequence[Outputs], cache: Sequence[int] = ()
) -> Arrays:
    """The path of the search, and the model that is saved.

    * `outputs`: of the whole model, of that after each further step, and of the saved one before and after training.
    * `cache`: of a decoder, the bytes of keys and values of a token after each step.
    """
    task, scores, examples = judge.task, judge.scores(outputs), len(outputs[0])
    gains, path = judge.gains(outputs, scores), slice(0, len(steps))
    shares = np.array([step.megabytes / steps[0].megabytes for step in steps])
    change = np.array([step.change for step in steps])
    stays = np.array([[layer in step.size.layers for layer in steps[0].size.layers] for step in steps])
    added = Variables({"step": range(len(steps)), "metric": scores.metrics}, STUDY.source, STUDY.labels)
    for name, models in (("path", path), ("whole", 0), ("shrunk", -1)):
        label, values = STUDY.labels[f"{name}_score"], scores.values[models]
        count = Count(np.full(values.shape, examples), f"examples behind {label.what}", dims=label.dims)
        added.add(f"{name}_score", values, interval=scores.bounds[models], count=count)
    added.add("path_change", scores.changes[path], interval=scores.change_bounds[path])
    added.add("output_change", change)
    added.add("exact_change", np.append(np.nan, np.diff(change)))
    added.add("megabytes", [step.megabytes for step in steps])
    if cache:
        added.add("cache", list(cache))
    added.add("layer_neurons", stays * np.array([step.size.neurons for step in steps]))
    added.add("layer_heads", stays * np.array([step.size.heads for step in steps]))
    added.add("untrained_score", scores.values[-2], interval=scores.bounds[-2])
    added.add("shrunk_change", scores.changes[-1], interval=scores.change_bounds[-1])
    added.add("shrunk_gain", gains[-1, 0], interval=gains[-1, 1:], count=examples)
    needed = needed_share(gains, shares, judge.tolerance)
    added.add("needed_share", needed[0], interval=needed[1:], count=examples)
    if task is not None:
        added.add("chance", chance(task, task.targets(task.dev)))
    parts = [step.part or "the whole model" for step in steps]
    return {
        name: array.assign_coords(part=("step", parts)) if "step" in array.dims else array
        for name, array in added.arrays.items()
    }


def needed_share(
    gains: Float[np.ndarray, "model 3"], shares: Float[np.ndarray, " step"], tolerance: float
) -> Float[np.ndarray, " 3"]:
    """The smallest share of the size at which the main metric falls by less than the tolerance, with its bounds.

    The upper bound is the smallest share at which it surely does so, the lower one that at which it may. Models are
    tested from the largest on, and the first that fails ends the tests: so they need no correction (see `Promise`).

    * `gains`: of the models of the steps, further ones, and the saved one last, whose share is the last.
    """
    gain, lower, upper = gains.T
    fits = gain > -tolerance, ~(upper <= -tolerance), lower > -tolerance  # without bounds it may, and not surely
    return np.array([_smallest(models, shares) for models in fits])


def _smallest(fits: Bool[np.ndarray, " model"], shares: Float[np.ndarray, " step"]) -> float:
    """The last share before the first that does not fit; the last of all if the saved model fits."""
    unfit = np.flatnonzero(~fits[1 : len(shares)])
    return float(shares[-1] if fits[-1] or not len(unfit) else shares[unfit[0]])


def kept_variables(original: Original, size: Size, kept: Kept) -> Arrays:
    """`kept_share` by layer: of neurons and heads, and of the variance and the squared length that they add.

    * `kept`: the parts that stay.
    """
    there = np.isin(original.size.layers, size.layers)
    neurons = np.array(size.neurons) / original.width if original.width else np.full(len(there), np.nan)
    heads = np.array(size.heads) / original.heads
    columns = [
        neurons,
        share_added(original.of_neurons, kept.neurons) if kept.neurons else neurons,
        heads,
        share_added(original.of_heads, kept.heads) if kept.heads else heads,
    ]
    added = Variables({"kept": KEPT}, STUDY.source, STUDY.labels)
    return {"kept_share": added.add("kept_share", np.stack(columns, axis=1) * there[:, None])}


def heads_that_stay(original: Original, size: Size, kept: Kept) -> Bool[np.ndarray, "layer head"]:
    """Which heads of the whole model a size keeps; `kept`: the parts that stay."""
    numbers = original.model.capture.heads
    stays = np.zeros((len(numbers), max(numbers)), dtype=bool)
    for layer in size.layers:
        stays[layer, list(kept.heads[layer] if kept.heads else range(numbers[layer]))] = True
    return stays


def share_added(values: Sequence[Float[np.ndarray, " part"]], kept: Numbers) -> Float[np.ndarray, " layer"]:
    """The share of the sum of each layer's values that its kept parts have.

    >>> share_added([np.array([1.0, 3.0]), np.array([0.0, 0.0])], ((1,), (0,)))
    array([0.75, 1.  ])
    """
    both = zip(values, kept, strict=True)
    sums = [(float(layer[list(some)].sum()), float(layer.sum())) for layer, some in both]
    return np.array([part / total if total else 1.0 for part, total in sums])


def portable_beside(fine: FoundSize, record: SearchRecord) -> tuple[Arrays, dict[str, Any]]:
    """What an ordinary class costs: the model of the same target that the search finds without `--fine`, beside it.

    Both are measured on the same texts with the same prices. Steps are recorded, so that a run that was killed goes on.

    Returns: variables, and facts: how fast and large the ordinary model is, in how many steps, and whether it reaches
    the target.
    """
    measured, judge = fine.search.original, fine.search.judge
    even = replace(measured, parts=parts_of(measured.model), fine=False, least_heads=1, least_neurons=1)
    beside = replace(fine.search, original=even, judge=replace(judge, settings=judge.settings.quiet))
    record = replace(record, path=record.path.with_name(PORTABLE))
    steps = found_steps(beside, record, record.read(), best_effort=True)
    outputs = [judge.outputs(model) for model in (even.cut(steps[-1].size), measured.cut(fine.steps[-1].size))]
    facts = {
        "speed": 1 / steps[-1].share,
        "megabytes": steps[-1].megabytes,
        "steps": len(steps) - 1,
        "reached": beside.met(steps[-1]),
    }
    # what the fine model gains beside the ordinary one, on the same examples and resamples
    return judge.variables(outputs, "portable_score", "fine_gain", 1), {"portable": facts}
