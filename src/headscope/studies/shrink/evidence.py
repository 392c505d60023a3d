"""The evidence of a smaller model: held-out scores, the gain that is tested, sizes and timings."""

from typing import Any

import numpy as np

from headscope.corpora.tasks import Task
from headscope.models import Model
from headscope.outputs.promise import Promise
from headscope.outputs.size_and_speed import forward_seconds, megabytes, parameters
from headscope.passes import Settings
from headscope.studies.shrink import scores as scoring
from headscope.studies.shrink.answers import Outputs
from headscope.studies.shrink.prices import ROUNDS, Shapes
from headscope.studies.shrink.search import Step
from headscope.studies.shrink.splits import Splits


def scores_of(task: Task | None, outputs: list[Outputs], texts: Splits, settings: Settings) -> scoring.Scores:
    """Held-out scores of the outputs of several models, the whole one first."""
    if task is None:
        return scoring.of_similarities(outputs, texts.units, settings.seed, settings.resamples)
    return scoring.of_task(task, outputs, task.targets(task.dev), settings.seed, settings.resamples)


def gain_of(
    task: Task | None, outputs: list[Outputs], scores: scoring.Scores, tolerance: float | None, settings: Settings
) -> np.ndarray:
    """Gain of the main metric by the saved model, with its interval."""
    if task is None:
        return np.array([scores.changes[-1, 0], *scores.change_bounds[-1, 0]])
    examples = task.targets(task.dev), task.dev.units
    promise = Promise(task.metrics[0], *examples, tolerance or 0.0, settings.seed, settings.resamples, in_order=True)
    return promise.gain(outputs[0], outputs[-1], choosing=True)


def facts_of(model: Model, smaller: Model, shapes: Shapes, steps: list[Step], *, epochs: int) -> dict[str, Any]:
    """Sizes and milliseconds of the whole model and of the saved one."""
    both = model, smaller
    seconds = [forward_seconds([*both], *shape, ROUNDS) for shape in shapes]
    first, last = steps[0].size, steps[-1].size
    return {
        "parameters": [parameters(one) for one in both],
        "megabytes": [megabytes(one) for one in both],
        "pieces": [one.network.config.get_text_config().vocab_size for one in both],
        "layers": [len(first.layers), len(last.layers)],
        "neurons": [first.width, last.width],
        "heads": [first.heads, last.heads],
        "epochs": epochs,
        "speeds": [1 / step.share for step in steps],
        "timed": [
            {"examples": shape[0], "tokens": shape[1], "before": 1000 * one, "after": 1000 * other}
            for shape, (one, other) in zip(shapes, seconds, strict=True)
        ],
    }
