"""The evidence of a smaller model: held-out scores, gains that are tested, sizes and timings."""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.corpora.tasks import Task, chance
from headscope.models import Model
from headscope.models.embedding_width import embedding_width
from headscope.outputs.promise import Promise
from headscope.outputs.size_and_speed import megabytes, parameters
from headscope.passes import Settings
from headscope.studies.shrink import choices
from headscope.studies.shrink import scores as scoring
from headscope.studies.shrink.answers import Outputs
from headscope.studies.shrink.fine_size import FineSize
from headscope.studies.shrink.sizes import AnySize
from headscope.studies.shrink.splits import Splits
from headscope.studies.shrink.steps import Step
from headscope.studies.shrink.timing import Timing, busy, times_as_fast
from headscope.studies.shrink.variables import ShrinkOutcome


def scores_of(task: Task | None, outputs: list[Outputs], texts: Splits, settings: Settings) -> scoring.Scores:
    """Held-out scores of the outputs of several models, the whole one first."""
    if task is None:
        return scoring.of_similarities(outputs, texts.units, settings.seed, settings.resamples)
    return scoring.of_task(task, outputs, task.targets(task.dev), settings.seed, settings.resamples)


def outcome_of(
    task: Task | None,
    steps: list[Step],
    layers: int,
    outputs: list[Outputs],
    texts: Splits,
    tolerance: float,
    settings: Settings,
) -> ShrinkOutcome:
    """What a run has found, of the held-out outputs of the models of all steps and further ones, the saved one last.

    * `layers`: of the whole model; `tolerance`: that the main metric may lose.
    """
    scores = scores_of(task, outputs, texts, settings)
    gains = gains_of(task, outputs, scores, tolerance, settings)
    shares = np.array([step.megabytes / steps[0].megabytes for step in steps])
    return ShrinkOutcome(
        steps,
        layers,
        scores,
        gains[-1],
        needed_share(gains, shares, tolerance),
        scores.values[-1],
        None if task is None else chance(task, task.targets(task.dev)),
        len(outputs[0]),
    )


def choices_of(task: Task | None, outputs: list[Outputs], texts: Splits, settings: Settings) -> dict[str, xr.DataArray]:
    """Scores by how parts are chosen; none without other choices.

    * `outputs`: of the whole model, of that of the search, and of the others.
    """
    if len(outputs) < 3:
        return {}
    units = texts.units if task is None else task.dev.units
    return choices.variables(scores_of(task, outputs, texts, settings), units)


def gains_of(
    task: Task | None, outputs: list[Outputs], scores: scoring.Scores, tolerance: float, settings: Settings
) -> Float[np.ndarray, "model 3"]:
    """Gain of the main metric by each model, below 0 where it is worse, with its interval."""
    if task is None:
        return np.column_stack([scores.changes[:, 0], scores.change_bounds[:, 0]])
    examples = task.targets(task.dev), task.dev.units
    promise = Promise(task.metrics[0], *examples, tolerance, settings.seed, settings.resamples, in_order=True)
    return np.stack([promise.gain(outputs[0], after, choosing=True) for after in outputs])


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


def facts_of(model: Model, smaller: Model, timing: Timing, steps: list[Step], *, epochs: int) -> dict[str, Any]:
    """Sizes and milliseconds of the whole model and of the saved one."""
    both = model, smaller
    first, last = steps[0].size, steps[-1].size
    neurons, heads = zip(*map(_numbers, (first, last)), strict=True)
    removed = [layer + 1 for layer in first.layers if layer not in last.layers]
    was_busy, seconds = busy(), timing.by_round(both)
    return {
        "parameters": [parameters(one) for one in both],
        "megabytes": [megabytes(one) for one in both],
        "pieces": [one.network.config.get_text_config().vocab_size for one in both],
        "layers": [len(first.layers), len(last.layers)],
        "neurons": neurons,
        "heads": heads,
        "embedding_width": [embedding_width(one) for one in both],
        "model_class": [type(one.network).__name__ for one in both],
        **({"fine": {"removed_layers": removed}} if isinstance(last, FineSize) else {}),
        "epochs": epochs,
        "speeds": [1 / step.share for step in steps],
        "timed": [
            {"examples": shape[0], "tokens": shape[1], "before": 1000 * one, "after": 1000 * other}
            for shape, (one, other) in zip(timing, np.median(seconds, 0).tolist(), strict=True)
        ],
        "times_as_fast": times_as_fast(seconds),
        "busy": was_busy,
    }


def _numbers(size: AnySize) -> tuple[int, int]:
    """The numbers of neurons and heads of a size: of a layer, or where layers differ of all."""
    if isinstance(size, FineSize):
        neurons, heads = map(sum, zip(*size.of_layers, strict=True))
        return neurons, heads
    return size.width, size.heads
