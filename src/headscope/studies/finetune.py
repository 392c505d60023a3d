"""What does fine-tuning add: scores of tasks from pre-trained, random and frozen encoders?

Kovaleva et al. 2019, Table 1: BERT as it is ("pretrained": an untrained classifier on it), from random
weights, and from pre-trained ones; beside them "frozen", where the classifier alone is trained.
"""

import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import xarray as xr
from typer import Option

from headscope import results
from headscope.corpora import Corpus
from headscope.engine import DEFAULTS, Settings
from headscope.engine.provenance import provenance
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.check import Capture
from headscope.models.checkpoint import locate
from headscope.models.minilm import verify
from headscope.models.placing import device_of
from headscope.tasks import Task
from headscope.training import Recipe, initial
from headscope.training.recipe import Init, Keep, Precision
from headscope.training.scores import labelled
from headscope.training.table import Place, Row, limited, runs

INITS = ("pretrained", "random", "frozen", "finetuned")


def run(  # noqa: PLR0913 (each is an option of the command)
    checkpoint: str,
    tasks: tuple[Task, ...],
    settings: Settings = DEFAULTS,
    *,
    directory: Path,
    loading: dict[str, Any],
    table: Annotated[bool, Option("--table", help="All four inits, as in Table 1 of Kovaleva et al. 2019.")] = False,
    init: Annotated[Init, Option(help="What training starts from; pretrained is not trained at all.")] = "finetuned",
    seeds: Annotated[int, Option(min=1, help="Train with so many seeds, from --seed on.")] = 1,
    batch: Annotated[int, Option(min=1, help="Examples of a step.")] = 32,
    epochs: Annotated[int, Option(min=1, help="Passes over the training examples.")] = 3,
    learning_rate: Annotated[float, Option(help="Peak of the learning rate.")] = 2e-5,
    frozen_rate: Annotated[
        float | None, Option(help="Learning rate of the init 'frozen'; by default --learning-rate.")
    ] = None,
    warmup: Annotated[float, Option(help="Share of the steps in which the learning rate rises.")] = 0.1,
    weight_decay: Annotated[float, Option(help="Weight decay of AdamW.")] = 0.01,
    precision: Annotated[Precision, Option(help="Mixed precision of training.")] = "no",
    max_tokens: Annotated[int, Option(help="Longer inputs are cut.")] = 128,
    keep: Annotated[Keep, Option(help="Keep the model of the best epoch on dev, or of the last.")] = "best",
    train_limit: Annotated[
        list[str] | None, Option(metavar="[TASK=]N", help="Train on N examples only, chosen by the seed.")
    ] = None,
) -> xr.Dataset:
    """`score[task, init, metric]`: mean over seeds, with its spread, the epochs' scores, the loss and chance beside it.

    What is done is kept in `directory`: each run (task, init, seed) and, of the first seed, its model, an
    ordinary Hugging Face folder `models/TASK-INIT` (`model` where there is only one). A run that was
    interrupted goes on from its last checkpoint, and ends as it would have without.

    Raises `HeadscopeError` if a task has no train split, a loss is no finite number, the disk is full, or
    the folder has runs with other settings.
    """
    started, inits = time.monotonic(), INITS if table else (init,)
    recipe = Recipe(
        batch=batch, epochs=epochs, learning_rate=learning_rate, warmup=warmup, weight_decay=weight_decay,
        precision=precision, max_tokens=max_tokens, keep=keep,
    )  # fmt: skip
    recipes = {each: recipe for each in inits}
    if frozen_rate is not None and "frozen" in inits:
        recipes["frozen"] = replace(recipe, learning_rate=frozen_rate)
    limits = _limits(train_limit or [], tasks)
    tasks = tuple(limited(task, limits[task.name], settings.seed) if task.name in limits else task for task in tasks)
    place = _place(checkpoint, directory, **loading)
    rows = [Row(task, recipe, initial(place.checkpoint, task, inits[-1], settings.seed)) for task in tasks]
    planned = list(
        runs(rows, recipes, range(settings.seed, settings.seed + seeds), place, _models(place, tasks, inits))
    )
    settings.expect(sum(one.steps for one in planned))
    found = {(one.row.task.name, one.init, one.seed): one.result(place, settings) for one in planned}
    variables = labelled(tasks, inits, sorted({one.seed for one in planned}), found, settings)
    attributes = _attributes(rows, place, settings)
    attributes |= {"recipe": json.dumps(recipe.as_settings() | {"frozen_rate": frozen_rate, "train_limit": limits})}
    attributes |= {"duration_s": round(time.monotonic() - started, 3)}
    return results.check(variables.assign_attrs(attributes))


def _place(
    name: str,
    directory: Path,
    device: str | None = None,
    dtype: str = "float32",
    revision: str | None = None,
    remote_code: bool = False,
) -> Place:
    if dtype != "float32":
        raise HeadscopeError(f"dtype '{dtype}': weights are trained in float32; use --precision bf16 for speed")
    found = locate(name, revision=revision, remote_code=remote_code)
    sha256 = found.sha256
    if name == "minilm":
        verify(sha256)
    return Place(found, sha256, Path(directory), device_of(device), remote_code)


def _models(place: Place, tasks: tuple[Task, ...], inits: tuple[str, ...]) -> dict[tuple[str, str], Path]:
    """Where the models go."""
    if len(tasks) == len(inits) == 1:
        return {(tasks[0].name, inits[0]): place.directory / "model"}
    return {(task.name, init): place.directory / "models" / f"{task.name}-{init}" for task in tasks for init in inits}


def _limits(given: list[str], tasks: tuple[Task, ...]) -> dict[str, int]:
    """The most training examples of each task, from "TASK=N" or "N"."""
    names = {_plain(task.name): task.name for task in tasks}
    limits = {}
    for one in given:
        task, _, number = one.rpartition("=")
        if not number.isdecimal() or int(number) < 1 or (task and _plain(task) not in names):
            raise HeadscopeError(
                f"train limit '{one}' is none of [TASK=]N with one of {', '.join(names.values())}; write sst-2=8000"
            )
        limits |= {names[each]: int(number) for each in names if not task or each == _plain(task)}
    return limits


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _attributes(rows: list[Row], place: Place, settings: Settings) -> dict[str, Any]:
    devs = [row.task.dev for row in rows]
    sha256 = hashlib.sha256("".join(dev.sha256 for dev in devs).encode()).hexdigest() if devs[1:] else devs[0].sha256
    corpus = Corpus(", ".join(dev.name for dev in devs), sha256, sum(map(len, devs)), {}, lambda: iter(()))
    start, checkpoint = rows[0].initial, place.checkpoint
    model = Model(checkpoint.name, start.network, start.tokenizer, Capture("", ()), checkpoint.revision, place.sha256)
    cut = {f"{row.task.name} {reason}": count for row in rows for reason, count in _cut(row).items()}
    return provenance("finetune", model, corpus, settings) | {
        "n_examples": corpus.n_examples,
        "n_tokens": sum(len(encoded) for row in rows for encoded in row.dev[0]),
        "new_weights": ", ".join(start.new),
        "skipped": json.dumps(cut),
    }


def _cut(row: Row) -> dict[str, int]:
    """How many inputs were cut; of the training examples only if they were needed."""
    return dict(row.dev[1] + (row.labelled[1] if "labelled" in vars(row) else type(row.dev[1])()))
