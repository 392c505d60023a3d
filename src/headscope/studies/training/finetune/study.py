"""Run the study: from its options to a labelled result."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import xarray as xr

from headscope import results
from headscope.corpora.corpus import joint_corpus
from headscope.corpora.tasks import Task
from headscope.corpora.tasks.task import WITHOUT_GRADIENTS, limited
from headscope.errors import HeadscopeError, plain_name
from headscope.models import Model
from headscope.passes import DEFAULTS, Settings
from headscope.passes.provenance import provenance
from headscope.passes.settings import Directory, Loading, ModelName
from headscope.studies.training.finetune.baseline_scores import BaselineOutputs
from headscope.studies.training.finetune.baselines import baseline_outputs
from headscope.studies.training.finetune.design import Pairs, SeedDesign
from headscope.studies.training.finetune.running import do_runs, early_epoch
from headscope.studies.training.finetune.table1 import Key, TableRow, TrainingRun, run_name, runs
from headscope.studies.training.finetune.variables import to_variables
from headscope.studies.training.finetune.ways import TABLE, ChosenWays, refuse_other_ways, without_first
from headscope.training import TrainedOutputs, initial
from headscope.training.beginning import RunEnvironment, WayOptions, run_environment
from headscope.training.parallel import open_training
from headscope.training.recipe import TrainingRecipe
from headscope.training.steps import spaced
from headscope.training.ways import WITHOUT_TRAINING, options_of


def run(  # noqa: PLR0913 (each is an option of the command, or a group)
    checkpoint: ModelName,
    tasks: tuple[Task, ...],
    settings: Settings = DEFAULTS,
    *,
    directory: Directory | None = None,
    loading: Loading,
    chosen_ways: ChosenWays,
    design: SeedDesign,
    recipe: TrainingRecipe,
    all_models: bool = False,
    keep_steps: str | None = None,
    train_limit: list[str] | None = None,
    baselines: bool = True,
) -> xr.Dataset:
    """Fine-tune an encoder on each task in each way, and score it on dev.

    `directory` keeps each run (task, way, seeds) and the model of the first seeds, an ordinary Hugging Face
    folder: `model`, or `models/TASK-WAY` of several. An interrupted run continues from its last checkpoint
    and ends with the same weights; a completed run is not repeated.

    Arguments:

    * `checkpoint`: Name the encoder: a Hugging Face id, a folder, or minilm.
    * `tasks`: Train and score on these tasks.
    * `settings`: Set the seed, the batch size, the resamples, the progress, and how many runs are done side by side.
    * `directory`: Keep runs and models in this folder. Without it nothing is kept.
    * `loading`: Set the device, the dtype, the revision and remote code of the encoder.
    * `chosen_ways`: Train in these ways.
    * `design`: Train with these seeds.
    * `recipe`: Train with these hyperparameters.
    * `all_models`: Keep the model of every run in `models`, not of the first seeds alone: for `headscope join`.
    * `keep_steps`: Keep the weights after this number of steps, evenly spaced, or `log`: after steps 1, 2, 4, 8 and
      so on, for `headscope film`. Each costs two bytes a trained weight, and the start four.
    * `train_limit`: Train on N examples of each task, or of TASK, drawn at random from the train split as read;
      `--limit` rules how many examples of each split are read.
    * `baselines`: Also score simple models: bags of words and of pairs of words, one sentence alone, mean embeddings.

    Raises `HeadscopeError` if a task has no train split, a loss is not finite, the disk is full, or the folder
    holds runs with other settings.
    """
    inits, of_ways = chosen_ways.names(), chosen_ways.recipes(recipe)
    if keep_steps is not None:
        spaced(keep_steps, 1)  # refuses a wrong one before anything is computed
    if design.stop_bad_seeds and recipe.epochs < 2:
        raise HeadscopeError("bad seeds cannot be stopped early in a single epoch; add --epochs")
    pairs = design.pairs(settings.seed)
    limits = _limits(train_limit or [], tasks)
    tasks = tuple(limited(task, limits[task.name]) if task.name in limits else task for task in tasks)
    tasks, first = without_first(tuple(map(_scored, tasks)), chosen_ways.first_task)
    refuse_other_ways(tasks, inits)
    assert directory is not None  # in Python a folder that is removed stands for none
    environment = run_environment(checkpoint, directory, **loading)
    classic = inits[-1] if inits[-1] in TABLE else "finetuned"
    start = initial(environment.checkpoint, tasks[0], classic, settings.seed, remote_code=environment.remote_code)
    rows = [TableRow(task, recipe.max_tokens, start.model) for task in tasks]
    models = _models(environment.directory, tasks, inits, pairs if all_models else pairs[:1])
    options = WayOptions(top_layers=chosen_ways.top_layers, rank=chosen_ways.rank, first_task=first)
    with_gradients = not any(task.kind in WITHOUT_GRADIENTS for task in tasks)
    heads = design.head_examples if len(pairs) > 1 and with_gradients else 0
    planned = list(runs(rows, of_ways, pairs, environment.directory, models, options, heads, keep_steps))
    for one in planned:
        open_training(one, environment, settings)
    settings.on_total(sum(one.steps for one in planned))
    kept = do_runs(planned, environment, settings, design.stop_bad_seeds)
    trained = {one.key: one.result(environment, settings) for one in kept}
    simple = _baselines(tasks, start.model, classic, environment, settings) if baselines else {}
    of_heads = {one.key: one.record.heads() for one in kept}
    variables = to_variables(tasks, inits, pairs, trained, of_heads, simple, settings)
    attributes = _attributes(rows, environment, settings) | {
        "new_weights": ", ".join(start.new),
        "skipped": json.dumps(_cut(rows, kept, trained)),
        "recipe": json.dumps(
            recipe.as_settings()
            | {"frozen_rate": chosen_ways.frozen_rate or recipe.learning_rate}
            | {"train_examples": {task.name: task.train.n_examples for task in tasks if task.train}}
            | {"train_sha256": {task.name: task.train.sha256 for task in tasks if task.train}}
            | ({"trained_depth": deepest} if (deepest := max(task.trained_depth for task in tasks)) else {})
            | _further(of_ways, recipe.learning_rate, pairs, options)
            | _stopped(planned, kept, recipe.epochs, design.stop_bad_seeds)
        ),
    }
    return results.check(variables.assign_attrs(attributes))


def _scored(task: Task) -> Task:
    """A task whose main score is higher where the model is better: of words the probability."""
    return replace(task, metrics=("probability", *task.metrics)) if task.kind == "words" else task


def _baselines(
    tasks: tuple[Task, ...], model: Model, init: str, environment: RunEnvironment, settings: Settings
) -> dict[str, BaselineOutputs]:
    """The outputs of the simple models of each task; `model`, started from `init`, is read if it is pre-trained."""
    if init == "random":
        remote_code = environment.remote_code
        model = initial(environment.checkpoint, tasks[0], "pretrained", settings.seed, remote_code=remote_code).model
    return {task.name: baseline_outputs(task, model) for task in tasks}


def _models(directory: Path, tasks: tuple[Task, ...], inits: tuple[str, ...], pairs: Pairs) -> dict[Key, Path]:
    """The folders of the models that are kept: of the first seeds, and of others under the names of their runs."""
    single, folder = len(tasks) == len(inits) == 1, directory / "models"
    kept: dict[Key, Path] = {}
    for name, init in product((task.name for task in tasks), inits):
        kept |= {(name, init, pair): folder / run_name(name, init, pair) for pair in pairs[1:]}
        kept[name, init, pairs[0]] = directory / "model" if single else folder / f"{name}-{init}".replace("/", "-")
    return kept


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


def _further(
    of_ways: dict[str, TrainingRecipe], learning_rate: float, pairs: Pairs, options: WayOptions
) -> dict[str, Any]:
    """What else than a plain recipe decides the numbers: rates and options of ways, and pairs of seeds."""
    rates = {way: one.learning_rate for way, one in of_ways.items() if one.learning_rate != learning_rate}
    first = options.first_task
    known = {"top_layers": options.top_layers, "rank": options.rank, "first_task": first.name if first else None}
    further = {"way_rates": rates} if set(rates) - {"frozen"} else {}
    further |= {name: known[name] for name in sorted(options_of(of_ways))}
    return further | ({"seed_pairs": pairs} if any(one != other for one, other in pairs) else {})


def _stopped(planned: list[TrainingRun], kept: list[TrainingRun], epochs: int, share: float) -> dict[str, Any]:
    """How many runs were stopped, after which epoch, and the share of the steps that this saved."""
    if not share:
        return {}
    early, stopped = early_epoch(epochs), len(planned) - len(kept)
    saved = stopped * (1 - early / epochs) / len(planned)
    return {"stopped": {"share": share, "runs": stopped, "of": len(planned), "epoch": early, "saved": round(saved, 4)}}


def _attributes(rows: list[TableRow], environment: RunEnvironment, settings: Settings) -> dict[str, Any]:
    corpus = joint_corpus([row.task.dev for row in rows])
    checkpoint = environment.checkpoint
    model = replace(rows[0].reader, name=checkpoint.name, revision=checkpoint.revision, sha256=environment.sha256)
    return provenance("finetune", model, corpus, settings) | {
        "n_examples": corpus.n_examples,
        "n_tokens": sum(len(encoded) for row in rows for encoded in row.dev.inputs),
    }


def _cut(rows: list[TableRow], planned: list[TrainingRun], trained: Mapping[Key, TrainedOutputs]) -> dict[str, int]:
    """Numbers of examples left out, of shortened inputs, and of dev labels outside the train split, of each task."""
    splits = [(row.task.name, split, corpus) for row in rows for split, corpus in row.task.splits]
    cut = {f"{name} {split} examples {why}": n for name, split, of in splits for why, n in of.skipped.items()}
    cut |= {f"{row.task.name} dev examples cut": row.dev.cut["truncated"] for row in rows}
    if any(one.init != WITHOUT_TRAINING for one in planned):
        cut |= {f"{row.task.name} dev examples with a label that train lacks": row.unlearnable for row in rows}
    for one in planned:
        if one.init != WITHOUT_TRAINING:
            name = one.row.task.name
            cut[f"{name} train examples cut"] = int(trained[one.key].cut)
    return {reason: count for reason, count in cut.items() if count}
