"""Run the study: from its options to a labelled result."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import xarray as xr

from headscope import results
from headscope.corpora.corpus import joint_corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import limited
from headscope.errors import HeadscopeError, plain_name
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, Loading, ModelName
from headscope.ranges import Range
from headscope.studies.finetune.baseline_scores import BaselineOutputs
from headscope.studies.finetune.baselines import baseline_outputs
from headscope.studies.finetune.table1 import TableRow, TrainingRun, runs
from headscope.studies.finetune.variables import to_variables
from headscope.training import TrainedOutputs, TrainingRecipe, initial
from headscope.training.environment import RunEnvironment, run_environment
from headscope.training.kept_steps import spaced
from headscope.training.recipe import Init

INITS: tuple[Init, ...] = ("pretrained", "random", "frozen", "finetuned")
ABOUT = "training"
EXAMPLE = "headscope finetune minilm --task mrpc --data GLUE -o out/tuned"
REQUIRED = ("score", "chance")

WITHOUT = ("workers", "engine", "address", "gpus_per_worker")  # shared options that have no effect


def run(  # noqa: PLR0913 (each is an option of the command)
    checkpoint: ModelName,
    tasks: tuple[Task, ...],
    settings: Settings = DEFAULTS,
    *,
    directory: Directory,
    loading: Loading,
    table: bool = False,
    init: Literal["finetuned", "pretrained", "random", "frozen"] = "finetuned",
    seeds: Annotated[int, Range(1)] = 1,
    batch: Annotated[int, Range(1)] = 32,
    epochs: Annotated[int, Range(1)] = 3,
    learning_rate: Annotated[float, Range(0)] = 2e-5,
    frozen_rate: Annotated[float, Range(0)] | None = None,
    warmup: Annotated[float, Range(0, 1)] = 0.1,
    weight_decay: Annotated[float, Range(0)] = 0.01,
    precision: Literal["no", "bf16", "fp16"] = "no",
    max_tokens: Annotated[int, Range(1)] = 128,
    keep: Literal["best", "last"] = "best",
    keep_steps: str | None = None,
    layer_rate_decay: Annotated[float, Range(0, 1)] = 1.0,
    layer_rate_growth: Annotated[float, Range(0, 1)] = 1.0,
    train_limit: list[str] | None = None,
    baselines: bool = True,
) -> xr.Dataset:
    """Fine-tune an encoder on each task from each init, and score it on dev.

    `directory` keeps each run (task, init, seed) and the model of the first seed, an ordinary Hugging Face
    folder: `model`, or `models/TASK-INIT` of several. An interrupted run continues from its last checkpoint
    and ends with the same weights; a completed run is not repeated.

    Arguments:

    * `checkpoint`: Name the encoder: a Hugging Face id, a folder, or minilm.
    * `tasks`: Train and score on these tasks.
    * `settings`: Set the seed, the batch size, the resamples and the progress.
    * `directory`: Keep runs and models in this folder.
    * `loading`: Set the device, the dtype, the revision and remote code of the encoder.
    * `table`: Train with all four inits, as in Table 1 of Kovaleva et al. 2019.
    * `init`: Start from finetuned (pre-trained weights), random, frozen (train the classifier alone) or
      pretrained (train nothing).
    * `seeds`: Train with this number of seeds, from `--seed` on.
    * `batch`: Train on this number of examples in a step.
    * `epochs`: Train for this number of passes over the training examples.
    * `learning_rate`: Set the peak of the learning rate.
    * `frozen_rate`: Set the learning rate of the init frozen (default: `learning_rate`).
    * `warmup`: Raise the learning rate during this fraction of the steps.
    * `weight_decay`: Set the weight decay of AdamW.
    * `precision`: Train in mixed precision: no, bf16 or fp16.
    * `max_tokens`: Shorten longer inputs to this number of tokens.
    * `keep`: Keep the model of the best epoch on dev, or of the last.
    * `keep_steps`: Keep the weights after this number of steps, evenly spaced, or `log`: after steps 1, 2, 4, 8 and
      so on, for `headscope film`. Each costs two bytes a trained weight, and the start four.
    * `layer_rate_decay`: Multiply the learning rate by this for each layer further below: lower layers learn more
      slowly.
    * `layer_rate_growth`: Multiply the learning rate by this for each layer further above: upper layers learn more
      slowly, but not the classifier.
    * `train_limit`: Train on N examples of each task, or of TASK, drawn at random from the train split as read;
      `--limit` rules how many examples of each split are read.
    * `baselines`: Also score simple models: bags of words and of pairs of words, one sentence alone, mean embeddings.

    Returns: `score[task, init, metric]`, the mean over seeds, with spread, interval, the scores of the epochs, the
    loss, and chance; `baseline_score[task, baseline, metric]` of simple models, and `baseline_gain`, how much better a
    model is on the same examples.

    Raises `HeadscopeError` if a task has no train split, a loss is not finite, the disk is full, or the folder
    holds runs with other settings.
    """
    started, inits = time.monotonic(), INITS if table else (init,)
    recipe = TrainingRecipe(
        batch=batch, epochs=epochs, learning_rate=learning_rate, warmup=warmup, weight_decay=weight_decay,
        precision=precision, max_tokens=max_tokens, keep=keep,
        layer_rate_decay=layer_rate_decay, layer_rate_growth=layer_rate_growth,
    )  # fmt: skip
    rates = {"frozen": frozen_rate or learning_rate}
    recipes = {init: replace(recipe, learning_rate=rates.get(init, learning_rate)) for init in inits}
    if keep_steps is not None:
        spaced(keep_steps, 1)  # refuses a wrong one before anything is computed
    limits = _limits(train_limit or [], tasks)
    tasks = tuple(limited(task, limits[task.name]) if task.name in limits else task for task in tasks)
    environment = run_environment(checkpoint, directory, **loading)
    start = initial(environment.checkpoint, tasks[0], inits[-1], settings.seed, remote_code=environment.remote_code)
    rows = [TableRow(task, max_tokens, start.model) for task in tasks]
    models = _models(environment.directory, tasks, inits)
    of_seeds = range(settings.seed, settings.seed + seeds)
    planned = list(runs(rows, recipes, of_seeds, environment.directory, models, keep_steps))
    for one in planned:
        one.open(environment, settings.on_notice)
    settings.on_total(sum(one.steps for one in planned))
    trained = {(one.row.task.name, one.init, one.seed): one.result(environment, settings) for one in planned}
    simple = _baselines(tasks, start.model, inits[-1], environment, settings) if baselines else {}
    variables = to_variables(tasks, inits, sorted({one.seed for one in planned}), trained, simple, settings)
    attributes = _attributes(rows, environment, settings) | {
        "new_weights": ", ".join(start.new),
        "skipped": json.dumps(_cut(rows, planned, trained)),
        "recipe": json.dumps(
            recipe.as_settings() | {"frozen_rate": rates["frozen"], "train_examples": _trained_on(tasks)}
        ),
        "duration_s": round(time.monotonic() - started, 3),
    }
    return results.check(variables.assign_attrs(attributes))


def _baselines(
    tasks: tuple[Task, ...], model: Model, init: str, environment: RunEnvironment, settings: Settings
) -> dict[str, BaselineOutputs]:
    """The outputs of the simple models of each task; `model`, started from `init`, is read if it is pre-trained."""
    if init == "random":
        remote_code = environment.remote_code
        model = initial(environment.checkpoint, tasks[0], "pretrained", settings.seed, remote_code=remote_code).model
    return {task.name: baseline_outputs(task, model) for task in tasks}


def _models(directory: Path, tasks: tuple[Task, ...], inits: tuple[str, ...]) -> dict[tuple[str, str], Path]:
    """The folder of each model."""
    if len(tasks) == len(inits) == 1:
        return {(tasks[0].name, inits[0]): directory / "model"}
    return {(task.name, init): directory / "models" / f"{task.name}-{init}" for task in tasks for init in inits}


def _limits(given: list[str], tasks: tuple[Task, ...]) -> dict[str, int]:
    """Limits of training examples by task, from "TASK=N" or "N"."""
    names = {plain_name(task.name): task.name for task in tasks}
    limits = {}
    for one in given:
        task, _, number = one.rpartition("=")
        if not number.isdecimal() or int(number) < 1 or (task and plain_name(task) not in names):
            raise HeadscopeError(
                f"train limit '{one}' is not [TASK=]N with TASK one of {', '.join(names.values())}; use e.g. sst-2=8000"
            )
        limits |= {names[name]: int(number) for name in names if not task or name == plain_name(task)}
    return limits


def _trained_on(tasks: tuple[Task, ...]) -> dict[str, int]:
    """Number of training examples of each task with a train split, after all limits."""
    return {task.name: task.train.n_examples for task in tasks if task.train}


def _attributes(rows: list[TableRow], environment: RunEnvironment, settings: Settings) -> dict[str, Any]:
    corpus = joint_corpus([row.task.dev for row in rows])
    checkpoint = environment.checkpoint
    model = replace(rows[0].reader, name=checkpoint.name, revision=checkpoint.revision, sha256=environment.sha256)
    return provenance("finetune", model, corpus, settings) | {
        "n_examples": corpus.n_examples,
        "n_tokens": sum(len(encoded) for row in rows for encoded in row.dev[0]),
    }


def _cut(
    rows: list[TableRow], planned: list[TrainingRun], trained: dict[tuple[str, str, int], TrainedOutputs]
) -> dict[str, int]:
    """Numbers of shortened inputs, and of dev labels outside the train split, of each task."""
    cut = {f"{row.task.name} dev examples cut": row.dev[1].total() for row in rows}
    if any(one.init != "pretrained" for one in planned):
        cut |= {f"{row.task.name} dev examples with a label that train lacks": row.unlearnable for row in rows}
    for one in planned:
        if one.init != "pretrained":
            name = one.row.task.name
            cut[f"{name} train examples cut"] = int(trained[name, one.init, one.seed].cut)
    return {reason: count for reason, count in cut.items() if count}
