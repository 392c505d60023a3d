"""The score of a task with the first model's weights put back into the lowest layers of each later one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.engine.outputs import inputs_of, outputs
from headscope.engine.settings import Settings
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import interval, poisson_draws
from headscope.studies.compare.restore_layers import restoring
from headscope.tasks import Task, aligned, resampled, score

SOURCE = "after Hao et al. 2019; A Primer in BERTology (Rogers et al. 2020), section 5"


def refuse_unless_scored(models: Sequence[Model], task: Task, layers: int) -> None:
    """Raise `HeadscopeError` unless each later model has a head for the task and as many layers."""
    depth = len(models[0].capture.heads)
    if layers > depth:
        raise HeadscopeError(f"restore {layers} is more than the {depth} layers of the models; use at most {depth}")
    for model in models[1:]:
        if model.network.base_model is model.network:
            raise HeadscopeError(
                f"model '{model.name}' has no task head; name one that was fine-tuned on '{task.name}'"
            )
        _own(task, model)


def restored_scores(
    models: Sequence[Model], names: Sequence[str], task: Task, layers: int, settings: Settings, *, embeddings: bool
) -> dict[str, xr.DataArray]:
    """Scores [model, restored, metric] of the later models, with 0 to `layers` of the lowest layers restored.

    * `names`: of the later models; `embeddings`: restore them with layer 1.

    Beside each score, and its difference from that of the model as it is, stands a 95% bootstrap interval; the
    examples are drawn alike for both, so that the difference is a paired one.
    """
    first, *later = models
    draws = poisson_draws(range(task.dev.n_examples), settings.seed, settings.resamples)
    found = []
    for model in later:
        own = _own(task, model)
        answers = _answers(model, first, own, layers, settings, embeddings)
        found.append(_scored(own, answers, draws))
    scores, drawn = (np.stack(each, axis=-3) for each in zip(*found, strict=True))
    coords = {"model": list(names), "restored": list(range(layers + 1)), "metric": list(task.metrics)}
    what = f"score of {task.name} with the lowest layers as in the first model"
    changes, drawn_changes = scores - scores[:, :1], drawn - drawn[:, :, :1]
    return {
        **_labelled("restored_score", what, scores, drawn, coords, task.dev.n_examples),
        **_labelled("restored_change", f"change of the {what}", changes, drawn_changes, coords, task.dev.n_examples),
    }


def _own(task: Task, model: Model) -> Task:
    """The task with its labels in the order of the model's outputs."""
    labels: Any = model.network.config.id2label or {}
    return aligned(task, labels, model.name)


def _answers(
    model: Model, first: Model, task: Task, layers: int, settings: Settings, embeddings: bool
) -> Float[np.ndarray, "restored example output"]:
    inputs, _ = inputs_of(model, task.dev)
    found = [outputs(model, inputs, settings)]
    with restoring(model, first, embeddings=embeddings) as restore:
        for layer in range(1, layers + 1):
            restore(layer)
            found.append(outputs(model, inputs, settings))
    return np.stack(found)


def _scored(
    task: Task, answers: Float[np.ndarray, "restored example output"], draws: Float[np.ndarray, "resample example"]
) -> tuple[Float[np.ndarray, "restored metric"], Float[np.ndarray, "resample restored metric"]]:
    """The scores, and those of each resample."""
    targets = task.targets(task.dev)
    scores = [score(metric, answers, targets) for metric in task.metrics]
    drawn = [resampled(metric, answers, targets, draws) for metric in task.metrics]
    return np.stack(scores, axis=-1), np.stack(drawn, axis=-1)


def _labelled(
    name: str, what: str, values: np.ndarray, drawn: np.ndarray, coords: dict[str, list], n_examples: int
) -> dict[str, xr.DataArray]:
    """A variable with its interval and its number of examples."""
    attributes = {"long_name": what, "units": "score", "source": SOURCE}
    bounds, counted = f"95% bootstrap interval of {what}", f"examples with {what}"
    dims = tuple(coords)
    return {
        name: xr.DataArray(values, coords, dims, attrs=attributes),
        f"{name}_ci": xr.DataArray(
            interval(drawn),
            coords | {"bound": list(BOUNDS)},
            (*dims, "bound"),
            attrs=attributes | {"long_name": bounds},
        ),
        f"{name}_n_examples": xr.DataArray(n_examples, attrs=attributes | {"long_name": counted, "units": "examples"}),
    }
