"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope import results
from headscope.corpora import Corpus
from headscope.corpora.corpus import part
from headscope.corpora.tasks import Task
from headscope.models import Model
from headscope.models.config import query_group
from headscope.models.heads import existing
from headscope.models.pruned_folder import saved
from headscope.outputs.label_order import in_model_order
from headscope.outputs.outputs import task_outputs
from headscope.outputs.promise import Promise
from headscope.outputs.size_and_speed import BATCH, TOKENS, forward_seconds
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory
from headscope.ranges import Range
from headscope.studies.size.prune.cut_heads import refuse_uncuttable
from headscope.studies.size.prune.ranking import HeadRanking
from headscope.studies.size.prune.removal import PrunedModel, PruningPlan, smaller
from headscope.studies.size.prune.score_curve import ScoreCurve, curve
from headscope.studies.size.prune.size import scores_and_size
from headscope.studies.size.prune.subnetworks import masks, scored_parts
from headscope.training.continued import continued_training
from headscope.training.recipe import TrainingRecipe


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    task: Task,
    settings: Settings = DEFAULTS,
    *,
    directory: Directory,
    by: Literal["importance", "sweep"] = "importance",
    estimator: Literal["michel", "michel_code", "text_pruner", "run_bertology"] = "michel",
    from_: Path | None = None,
    plan: PruningPlan,
    again: bool = False,
    finetune_epochs: Annotated[int, Range(0, 1000)] = 0,
    learning_rate: Annotated[float, Range(0, 10)] = 2e-5,
    subnetworks: Annotated[int, Range(0, 1000)] = 0,
) -> xr.Dataset:
    """Remove the least important heads step by step, score each smaller model, and save the last.

    Heads are ranked on the train split (on dev without one) and scored on dev. Removal of a head is equivalent to
    a head output of 0. The saved model is loaded again, and its outputs are compared. With a tolerance the steps are
    tested in their order on dev, up to the first that fails. Without a train split one half of dev ranks the heads and
    chooses their number, and the other half tests the promise.

    Arguments:

    * `model`: Prune this model, which was fine-tuned on the task.
    * `task`: Rank and score heads on this task.
    * `directory`: Save the smaller model in `model` of this folder.
    * `by`: Rank heads by importance (gradients), or by sweep (the score without each head).
    * `estimator`: Rank by this estimator of importance.
    * `from_`: Read the ranking from a folder of the study ablate on this model.
    * `plan`: Remove this number of heads.
    * `again`: Recompute head importance after each step.
    * `finetune_epochs`: Train for this number of epochs after each step.
    * `learning_rate`: Set the peak of the learning rate of that training.
    * `subnetworks`: Also score the whole model with the heads that stay alone, with as many of the least important, and
      with as many at random, drawn this number of times.

    The attribute `forward_s` has the seconds of a forward pass before and after.

    Raises `HeadscopeError` if the heads of a model cannot be cut out, it is spread over devices, a value is out of
    range, or the disk is full.
    """
    ranking = HeadRanking(by, estimator, again)
    model.refuse_spread("pruned")
    counts = model.capture.heads
    shared = query_group(model.network.config, counts) if plan.unit == "kv" else 1
    heads = tuple(count // shared for count in counts)
    refuse_uncuttable(model, shared)
    plan.refuse_nothing(heads, model.name)
    task = in_model_order(task, model, settings)
    trains = task.train is not None
    if from_:
        ranking.read(from_, model, task, shared)
    dev, targets = task_inputs(model, task, task.dev, settings.seed), task.targets(task.dev)

    def answers(model: Model) -> Float[np.ndarray, "example output"]:
        return task_outputs(replace(dev, model=model), settings)

    answer, work = answers, len(dev.inputs)
    if finetune_epochs:
        recipe = TrainingRecipe(
            epochs=finetune_epochs, learning_rate=learning_rate, max_tokens=model.max_tokens, keep="last"
        )
        answer, work = continued_training(model, dev, recipe, settings, directory)
    held_out = not from_ or (by == "importance" and trains)
    in_order = trains and held_out
    promise, ranked = _promised(task, targets, plan.tolerance, settings, in_order=in_order)
    steps = len(plan.counts(heads))
    part_passes = subnetworks + 2 if subnetworks else 0
    rankings = ((steps if again else 1) - bool(from_)) * ranking.work(heads)
    settings.on_total(rankings * len(ranked.train or task.dev) + work * steps + (2 + part_passes) * len(dev.inputs))

    unpruned = PrunedModel(model, heads, shared=shared)
    path = curve(task, targets, promise, unpruned, answers(model))
    models = smaller(unpruned, plan, partial(ranking.of, task=ranked, settings=settings))
    interrupted = _extend(path, models, answer, steps if settings.keep_interrupted else None)
    before, after = forward_seconds([model, path.kept.model])
    variables = path.to_variables(settings)
    how = {"by": by, "estimator": estimator, "again": again, "finetune_epochs": finetune_epochs} | asdict(plan)
    how |= {"shared": shared, "share": plan.most, "held_out": held_out, "in_order": in_order}
    pruning = {"pruning": json.dumps(how)}
    read = {"corpus": task.dev.described, **pruning}
    notes = scores_and_size(xr.Dataset(variables, attrs=read), task.name, path.share, (before, after))
    written = saved(path.kept.model, directory / "model", notes, head=True)
    variables |= {"reloaded_score": path.reloaded(answers(written))}
    if subnetworks:
        parts = [part.repeat(shared, axis=1) for part in masks(path.kept, ranking.latest, subnetworks, settings.seed)]
        variables |= scored_parts(path, [_with(model, part, answers) for part in parts], settings)
    attributes = provenance("prune", model, task.dev, settings) | interrupted
    attributes |= {
        "task": task.name,
        "resampled": task.dev.resampled,
        "chosen_on": str(from_ or (ranked.train or task.dev).name),
        "spared": len(path.kept.spared - set(path.kept.gone)),
        "pruned_sha256": written.sha256,
        **pruning,
        "forward_s": json.dumps({"before": before, "after": after, "inputs": BATCH, "tokens": TOKENS}),
        "n_examples": len(targets),
        "n_tokens": sum(map(len, dev.inputs)),
        "skipped": json.dumps(dev.cut),
    }
    return results.check(xr.Dataset(variables, attrs=attributes))


def _promised(
    task: Task, targets: Float[np.ndarray, " example"], tolerance: float | None, settings: Settings, *, in_order: bool
) -> tuple[Promise | None, Task]:
    """The promise of a tolerance, if there is one, and the task on which heads are ranked."""
    if tolerance is None:
        return None, task
    examples = targets, task.dev.units
    promise = Promise(task.metrics[0], *examples, tolerance, settings.seed, settings.resamples, in_order)
    return promise, replace(task, train=task.train or _half(task.dev, promise))


def _extend(
    path: ScoreCurve,
    models: Iterable[PrunedModel],
    answer: Callable[[Model], Float[np.ndarray, "example output"]],
    steps: int | None,
) -> dict[str, str]:
    """Add smaller models to the curve until one breaks the promise; return what an interruption left undone.

    * `steps`: the number of steps that are planned; None does not keep what an interruption leaves.
    """
    try:
        for pruned in models:
            if not path.add(pruned, answer(pruned.model)):
                break
    except KeyboardInterrupt:
        if steps is None or len(path.points) < 2:
            raise
        return {"interrupted": f"after {len(path.points) - 1} of {steps} steps"}
    return {}


def _with(
    model: Model, part: Bool[np.ndarray, "layer head"], answers: Callable[[Model], Float[np.ndarray, "example output"]]
) -> Float[np.ndarray, "example output"]:
    """The answers of a model with a part of its heads, where the output of all others is 0."""
    with model.changed(existing(model.capture.heads) & ~part, "zero"):
        return answers(model)


def _half(dev: Corpus, promise: Promise) -> Corpus:
    """The examples that choose the number of heads, where there is no train split to rank them on."""
    return part(dev, np.flatnonzero(promise.choosing), f"one half of {dev.name}")
