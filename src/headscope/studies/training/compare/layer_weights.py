"""Weights of the layers: how far they moved, and what scores lose where the lowest are restored from the first model.

Kovaleva et al. 2019 find that fine-tuning changes the last layers most. Upper layers also get larger gradients, so
their weights move further; `weight_changes` divides one by the other.

Hao et al. 2019, after A Primer in BERTology (Rogers et al. 2020, section 5): restoring the weights of lower layers to
their original values does not dramatically hurt a fine-tuned model. Layers are those of the encoder. The Primer does
not mention embeddings; they are restored on request.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import torch
import xarray as xr
from jaxtyping import Float
from torch import Tensor, nn

from headscope.corpora.tasks import Task, aligned, scored
from headscope.errors import HeadscopeError
from headscope.models.layer_weights import Parts, layer_modules, moved
from headscope.models.model import Model
from headscope.outputs.label_order import in_model_order
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes.settings import Settings
from headscope.results.variables import Variables
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.studies.training.compare import LAYERS, STUDY


def weight_changes(models: Sequence[Model], result: xr.Dataset) -> dict[str, xr.DataArray]:
    """`weight_change[model, layer]` and `change_per_weight` with its interval; nothing where layers do not match.

    * `result`: has `layer_similarity[model, layer]`, the cosine of the attention of each later model and the first.
    """
    similarity = result["layer_similarity"].transpose(*LAYERS)
    interval = result["layer_similarity_ci"].transpose(*LAYERS, "bound")
    try:
        first, *later = [layer_modules(model) for model in models]
        changes = np.array([[moved(*layer) for layer in zip(first, other, strict=True)] for other in later])
    except HeadscopeError:
        return {}
    variables = Variables({"model": similarity["model"].values.tolist()}, STUDY.source, STUDY.labels)
    variables.add("weight_change", changes)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(changes > 0, (1 - similarity.values) / changes, np.nan)
        bounds = (1 - interval.sel(bound=list(BOUNDS[::-1])).values) / changes[..., None]
    count = int(result["layer_similarity_n_examples"].max())
    bounds = np.where(np.isfinite(bounds), bounds, np.nan)
    variables.add("change_per_weight", ratio, interval=bounds, count=count)
    return variables.arrays


@contextmanager
def restoring(model: Model, source: Model, *, embeddings: bool = False) -> Iterator[Callable[[int], None]]:
    """Context of a function `restore(layer)` that puts the source's weights into a layer of the model, from 1.

    At the end of the context the model has its own weights again.

    * `embeddings`: restore the embeddings together with layer 1.

    Raises `HeadscopeError` if the layers cannot be identified, or the weights differ in names or sizes.
    """
    ours, theirs = (_parts(network, embeddings) for network in (model, source))
    for mine, other in zip(ours, theirs, strict=True):
        if _shapes(mine) != _shapes(other):
            raise HeadscopeError(
                f"model '{model.name}' cannot take the layers of '{source.name}': their weights have other names or "
                "sizes; name the model that it was trained from first"
            )
    before: dict[int, list[dict[str, Tensor]]] = {}

    def restore(layer: int) -> None:
        mine, other = ours[layer - 1], theirs[layer - 1]
        before.setdefault(layer, [deepcopy(module.state_dict()) for module in mine])
        _put(mine, [module.state_dict() for module in other])

    try:
        yield restore
    finally:
        for layer, weights in before.items():
            _put(ours[layer - 1], weights)


def _parts(model: Model, embeddings: bool) -> Parts:
    parts = layer_modules(model, "leave out --restore")
    if embeddings:
        parts[0] += _embeddings(model)
    return parts


def _embeddings(model: Model) -> list[nn.Module]:
    """The modules below the first layer: the embedding module, or its tables."""
    base: Any = model.network.base_model
    word = base.get_input_embeddings()
    path = next(name for name, module in base.named_modules() if module is word)
    around = base.get_submodule(path.rpartition(".")[0])
    if any(isinstance(module, nn.ModuleList) for module in around.modules()):
        return [module for module in around.children() if isinstance(module, nn.Embedding)]
    return [around]


def _shapes(modules: list[nn.Module]) -> list[dict[str, torch.Size]]:
    return [{name: weight.shape for name, weight in module.state_dict().items()} for module in modules]


def _put(modules: list[nn.Module], weights: list[dict[str, Tensor]]) -> None:
    for module, states in zip(modules, weights, strict=True):
        module.load_state_dict(states)


def refuse_unless_scored(models: Sequence[Model], task: Task, layers: int) -> None:
    """Raise `HeadscopeError` unless each later model has a head for the task and at least `layers` layers."""
    depth = len(models[0].capture.heads)
    if layers > depth:
        raise HeadscopeError(f"restore {layers} is more than the {depth} layers of the models; use at most {depth}")
    for model in models[1:]:
        if model.network.base_model is model.network:
            raise HeadscopeError(
                f"model '{model.name}' has no task head; use a model that was fine-tuned on '{task.name}'"
            )
        in_model_order(task, model)


def restored_scores(
    models: Sequence[Model], names: Sequence[str], task: Task, layers: int, settings: Settings, *, embeddings: bool
) -> dict[str, xr.DataArray]:
    """Scores [model, restored, metric] of the later models, with 0 to `layers` of the lowest layers restored.

    * `names`: names of the later models.
    * `embeddings`: restore the embeddings with layer 1.

    Returns: `restored_score` and `restored_change` (since the fine-tuned model), each with a 95% bootstrap interval
    from the same resamples, so that changes are paired differences.
    """
    first, *later = models
    units = task.dev.units
    draws = poisson_draws(units, settings.seed, settings.resamples)
    of_models = []
    for model in later:
        own = aligned(task, model.network.config.id2label or {}, model.name)
        answers = _answers(model, first, own, layers, settings, embeddings)
        of_models.append(scored(own.metrics, answers, own.targets(own.dev), draws))
    scores, resamples = (np.stack(arrays, axis=-3) for arrays in zip(*of_models, strict=True))
    coords = {"model": names, "restored": range(layers + 1), "metric": task.metrics}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    changes, of_changes = scores - scores[:, :1], resamples - resamples[:, :, :1]
    for name, values, of_resamples in (("restored_score", scores, resamples), ("restored_change", changes, of_changes)):
        bounds = interval(of_resamples, equal_units(units))
        variables.add(name, values, interval=bounds, count=task.dev.n_examples)
    return variables.arrays


def _answers(
    model: Model, first: Model, task: Task, layers: int, settings: Settings, embeddings: bool
) -> Float[np.ndarray, "restored example output"]:
    inputs = task_inputs(model, task, task.dev)
    by_depth = [task_outputs(inputs, settings)]
    with restoring(model, first, embeddings=embeddings) as restore:
        for layer in range(1, layers + 1):
            restore(layer)
            by_depth.append(task_outputs(inputs, settings))
    return np.stack(by_depth)
