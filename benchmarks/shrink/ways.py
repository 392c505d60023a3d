"""The ways: each makes a smaller model of a fine-tuned one, saves it, and scores it on dev."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.shrink.static_table import static_table

from headscope import Model, Settings, load, results
from headscope.corpora.corpus import sample
from headscope.corpora.tasks import Task, aligned, read, score
from headscope.front import signatures
from headscope.models.onnx import session_of
from headscope.models.pruned_folder import save
from headscope.outputs.outputs import task_outputs
from headscope.outputs.size_and_speed import megabytes
from headscope.outputs.task_inputs import task_inputs
from headscope.storage.files import write_atomically
from headscope.studies.size.prune.ranking import HeadRanking
from headscope.studies.size.prune.removal import PrunedModel, PruningPlan, smaller
from headscope.studies.size.shrink.judge import judge_of
from headscope.studies.size.shrink.prices import layer_megabytes
from headscope.studies.size.shrink.texts import Splits

METHODS = ("estimate", "gates")
HEADS = PruningPlan(share=0.75, step=0.25)
# Examples of dev on which a run scores its steps.
SCORING_STEPS = 100
# Megabytes by which a target is raised, so that one which is written with four digits is not below a size.
ROUNDING = 1e-4
EIGHT = "in eight bits"
RUNTIME = find_spec("onnxruntime") is not None


@dataclass(frozen=True)
class Sizes:
    """How much the ways read and train; `device` is where they train."""

    model: str
    task: str
    data: str
    examples: int
    dev: int
    epochs: int
    groups: int
    device: str


@dataclass(frozen=True)
class Row:
    """A model: its score on dev, its megabytes, and its file or folder.

    * `target`: the megabytes that were asked for; NaN for a way that has a size of its own.
    * `seconds`: processor seconds of the run that made it.
    * `lower`, `upper`: the 95% interval of the score over examples of dev, of the whole model.
    """

    way: str
    target: float
    seed: int
    score: float
    megabytes: float
    path: str
    seconds: float = 0.0
    lower: float = float("nan")
    upper: float = float("nan")


def task_of(sizes: Sizes, model: Model, seed: int) -> Task:
    """The task, with so many examples of train, drawn by the seed, and of dev, which are the same for all seeds."""
    names: Any = model.network.config.id2label
    task = aligned(read(sizes.task, sizes.data), names, model.name)
    return replace(task, train=sample(task.training(), sizes.examples, seed), dev=sample(task.dev, sizes.dev, 0))


def made(way: str, target: float, seed: int, sizes: Sizes, folder: Path) -> list[Row]:
    """The models of a way, from their file if they were made before; one thread."""
    torch.set_num_threads(1)
    known, wanted = folder / "rows.json", asdict(sizes) | {"way": way, "target": target, "seed": seed}
    if known.is_file() and (stored := json.loads(known.read_text()))["of"] == wanted:
        return [Row(**row) for row in stored["rows"]]
    model = load(sizes.model, head=True, device="cpu" if way == "static" else sizes.device)
    begin = time.process_time()
    rows = WAYS[way](model, task_of(sizes, model, seed), target, seed, sizes, folder)
    rows = [replace(row, seconds=round(time.process_time() - begin, 1)) for row in rows]
    write_atomically(known, json.dumps({"of": wanted, "rows": [asdict(row) for row in rows]}))
    return rows


def _shrunk(
    options: dict[str, Any], way: str, model: Model, task: Task, target: float, seed: int, sizes: Sizes, folder: Path
) -> list[Row]:
    """The model that `headscope shrink` saves; with `eight_bit` also its file of eight bits.

    The run itself scores all its steps on few examples of dev; the saved model is scored on all.
    """
    given: dict[str, Any] = {"size": f"{target + ROUNDING:.4f}MB", "epochs": sizes.epochs}
    given |= {"groups": sizes.groups, "best_effort": True}
    settings = Settings(seed=seed, resamples=100)
    few = replace(task, dev=sample(task.dev, SCORING_STEPS, 0))
    run = signatures.read("shrink", "study", "run").load()
    result = run(model, few.dev, settings, directory=folder, task=few, **(given | options))
    results.save(result, folder)
    facts, made = json.loads(result.attrs["shrinking"]), load(str(folder / "model"), head=True, device="cpu")
    row = _row(way, seed, _outputs(made, task), task, facts["megabytes"][1], folder / "model", target)
    if "eight_bit" not in facts:
        return [row]
    path, size = folder / "model" / facts["eight_bit"]["file"], facts["eight_bit"]["megabytes"][1]
    judge = judge_of(made, task, Splits((), (), tuple(task.dev), tuple(task.dev.units)), settings)
    outputs = judge.file_outputs(session_of(path), made, judge.held_out)
    return [row, _row(f"{way}, {EIGHT}", seed, outputs, task, size, path, target)]


def _half_of_layers(model: Model, task: Task, target: float, seed: int, sizes: Sizes, folder: Path) -> list[Row]:
    """Half of the layers, distilled, whatever the target is (Sanh et al. 2019)."""
    gone = len(model.capture.heads) // 2
    half = megabytes(model) - gone * layer_megabytes(model)
    options = {"parts": "layers"}
    return _shrunk(options, "half of the layers", model, task, half, seed, sizes, folder)


def _heads(model: Model, task: Task, target: float, seed: int, sizes: Sizes, folder: Path) -> list[Row]:
    """Three quarters of the heads gone by the importance of Michel et al. 2019, without training."""
    settings, ranking = Settings(seed=seed), HeadRanking("importance", "michel")
    *_, last = smaller(PrunedModel(model, model.capture.heads), HEADS, lambda now: ranking.of(now, task, settings))
    save(last.model, folder / "model")
    return [_row("heads", seed, _outputs(last.model, task), task, megabytes(last.model), folder / "model")]


def _static(model: Model, task: Task, target: float, seed: int, sizes: Sizes, folder: Path) -> list[Row]:
    """A vector for each piece, and a linear classifier of their means."""
    table = static_table(model, task, Settings(seed=seed))
    path = table.save(folder / "static.npz")
    return [_row("static", seed, table.outputs(model, tuple(task.dev)), task, table.megabytes, path)]


def _outputs(model: Model, task: Task) -> np.ndarray:
    return task_outputs(task_inputs(model, task, task.dev))


def _row(
    way: str, seed: int, outputs: np.ndarray, task: Task, size: float, path: Path, target: float = float("nan")
) -> Row:
    value = float(score(task.metrics[0], outputs, task.targets(task.dev)))
    return Row(way, target, seed, value, size, str(path))


def _gates(model: Model, task: Task, target: float, seed: int, sizes: Sizes, folder: Path) -> list[Row]:
    """Gates for half of the epochs, training for the others."""
    options = {"method": "gates", "epochs": max(1, sizes.epochs // 2)}
    return _shrunk(options, "gates", model, task, target, seed, sizes, folder)


AS_IT_IS: dict[str, Any] = {"speed": "1x", "size": None}
NARROW: dict[str, Any] = {"parts": "neurons,heads,layers,embeddings"}
OPTIONS: dict[str, dict[str, Any]] = {
    "estimate": {},
    "narrow": NARROW | {"eight_bit": RUNTIME},
    "fast": NARROW | {"eight_bit": RUNTIME, "speed": "2x"},
    "vocabulary": AS_IT_IS,
    "eight-bit": AS_IT_IS | {"parts": "neurons", "epochs": 0, "eight_bit": True},
    "both": {"eight_bit": RUNTIME},
}
WAYS: dict[str, Callable[..., list[Row]]] = {
    **{way: partial(_shrunk, options, way) for way, options in OPTIONS.items()},
    "gates": _gates,
    "layers": _half_of_layers,
    "heads": _heads,
    "static": _static,
}
