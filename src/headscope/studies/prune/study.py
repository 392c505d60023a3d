"""Run the study: from its options to a labelled result."""

import json
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from typer import Option

from headscope import results
from headscope.capture.transformers_logging import quiet
from headscope.engine import DEFAULTS, Settings
from headscope.engine.answers import answered
from headscope.engine.importance_estimators import ESTIMATORS
from headscope.engine.provenance import provenance
from headscope.engine.task_inputs import asked
from headscope.files import new_folder
from headscope.models import Model, load
from headscope.studies.prune.ranking import By, Ranking
from headscope.studies.prune.removal import Plan, Pruned, smaller
from headscope.studies.prune.score_curve import curve
from headscope.tasks import Task, aligned
from headscope.training.continued import further
from headscope.training.recipe import Recipe

HALF = 0.5


def run(  # noqa: PLR0913 (each is an option of the command)
    model: Model,
    task: Task,
    settings: Settings = DEFAULTS,
    *,
    directory: Path,
    by: Annotated[By, Option(help="What says how much a head matters.")] = "importance",
    estimator: Annotated[str, Option(help=f"Of importance: {', '.join(ESTIMATORS)}.")] = "michel",
    source: Annotated[
        Path | None, Option("--from", metavar="DIR", help="A folder that 'ablate' wrote, which says it already.")
    ] = None,
    share: Annotated[
        float | None, Option(help="Share of heads to remove; by default 0.5, with --tolerance as many as it allows.")
    ] = None,
    tolerance: Annotated[float | None, Option(help="Stop before the main metric falls by more than this.")] = None,
    step: Annotated[float, Option(help="Share of heads that go at a time.")] = 0.1,
    again: Annotated[bool, Option("--again", help="Ask which heads matter anew after each step.")] = False,
    keep: Annotated[int, Option(help="Heads that stay in each layer at least.")] = 1,
    finetune_epochs: Annotated[int, Option(min=0, help="Train for so many epochs after each step.")] = 0,
    learning_rate: Annotated[float, Option(help="Peak of its learning rate.")] = 2e-5,
) -> xr.Dataset:
    """`pruned_score[share_removed, metric]` of ever smaller models; the last is saved in `directory/model`.

    Heads are chosen on the train split (on dev where there is none) and scored on dev. A head that is gone is
    one whose output is 0. What is saved is loaded again, and must answer as before.

    Raises `HeadscopeError` if a model's heads cannot be cut out, a value makes no sense, or the disk is full.
    """
    started, ranking, most = time.monotonic(), Ranking(by, estimator, again), HALF if tolerance is None else 1.0
    plan = Plan(share=most if share is None else share, step=step, keep=keep, tolerance=tolerance)
    names: Any = model.network.config.id2label
    task = aligned(task, names, model.name)
    if source:
        ranking.read(source, model, task)
    dev, targets, heads = asked(model, task, task.dev, settings.seed), task.targets(task.dev), model.capture.heads

    def answers(model: Model) -> Float[np.ndarray, "example output"]:
        return answered(replace(dev, model=model), settings)

    answer, work = answers, len(dev.inputs)
    if finetune_epochs:
        recipe = Recipe(epochs=finetune_epochs, learning_rate=learning_rate, max_tokens=model.max_tokens, keep="last")
        answer, work = further(model, task, list(dev.inputs), recipe, settings, directory)
    steps = len(plan.counts(heads))
    rankings = ((steps if again else 1) - bool(source)) * ranking.work(heads)
    settings.on_total(rankings * len(task.train or task.dev) + work * steps + 2 * len(dev.inputs))

    whole, interrupted = Pruned(model, heads), {}
    path = curve(task, targets, tolerance, whole, answers(model))
    try:
        for pruned in smaller(whole, plan, partial(ranking.of, task=task, settings=settings)):
            if not path.add(pruned, answer(pruned.model)):
                break
    except KeyboardInterrupt:
        if not settings.keep_interrupted or len(path.points) < 2:
            raise
        interrupted = {"interrupted": f"after {len(path.points) - 1} of {steps} steps"}
    saved = _saved(path.kept.model, directory / "model")
    variables = path.labelled(settings) | {"reloaded_score": path.reloaded(answers(saved))}
    how = {"by": by, "estimator": estimator, "again": again, "finetune_epochs": finetune_epochs} | asdict(plan)
    attributes = provenance("prune", model, task.dev, settings) | interrupted
    attributes |= {
        "task": task.name,
        "chosen_on": str(source or (task.train or task.dev).name),
        "spared": len(path.kept.spared - set(path.kept.gone)),
        "pruned_sha256": saved.sha256,
        "pruning": json.dumps(how),
        "n_examples": len(dev.inputs),
        "n_tokens": sum(map(len, dev.inputs)),
        "skipped": json.dumps(dev.cut),
        "duration_s": round(time.monotonic() - started, 3),
    }
    return results.check(xr.Dataset(variables, attrs=attributes))


def _saved(model: Model, folder: Path) -> Model:
    """The model as it is loaded from the folder that it is now in."""
    with new_folder(folder) as scratch:
        with quiet():
            model.network.save_pretrained(scratch)
        model.tokenizer.save_pretrained(scratch)
    dtype = str(model.network.dtype).removeprefix("torch.")
    return load(str(folder), head=True, device=str(model.device), dtype=dtype)
