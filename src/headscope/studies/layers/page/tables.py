"""Scores of all tasks in one table: the selected layer beside baselines, and the mix of layers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.claims import apart
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import Cell, Estimate, estimate

BY_LAYER: tuple[str, ...] = ()
COLUMNS = {
    "layer": "Layer",
    "score": "Score",
    "embeddings": "Embeddings",
    "majority": "Most frequent",
    "random": "Random weights",
    "selectivity": "Selectivity",
    "compression": "Compression",
    "centre_of_gravity": "Centre",
    "mix_concentration": "Concentration",
    "expected_layer": "Expected layer",
    "mix_gain": "Mix",
}


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """A task at the layer that cases for choices choose.

    * `words`, `source`: its name in words, and the paper it is from; `unit`: what the score is, "cases", "variance" or
      "labels (F1)".
    * `score`, `embeddings`, `majority`, `gain`, `q`: there, and of baselines; `last`: the score of the last layer;
      `fall`: from that of the layer to it.
    * `cases`, `sentences`: the numbers of tested cases and sentences; `rare`: of cases whose answer has too few
      training cases, which are wrong; `lost`: of cases to train on or test without a token that the model reads.
    """

    name: str
    words: str
    source: str
    unit: str
    layer: int
    score: Estimate
    embeddings: Estimate
    majority: Estimate
    gain: Estimate
    q: float
    last: Estimate
    fall: Estimate
    cases: int
    sentences: int
    rare: int
    lost: int

    @property
    def complete(self) -> bool:
        """Whether it has a score there, and all baselines."""
        return all(np.isfinite(part.value) for part in (self.score, self.embeddings, self.majority, self.gain))


def tasks(result: xr.Dataset) -> list[TaskSummary]:
    """All tasks of a result, in its order."""
    described = json.loads(result.attrs["tasks"])
    return [_task(result, name, described[name]) for name in result["score"]["task"].values.tolist()]


def _task(result: xr.Dataset, name: str, described: dict) -> TaskSummary:
    layer, last = int(result["chosen_layer"].sel(task=name)), int(result["layer"][-1])
    score, at_last = (estimate(result, "score", task=name, layer=number) for number in (layer, last))
    saved = "last_layer_fall" in result
    cases = int(result["score_n_examples"].sel(task=name))
    return TaskSummary(
        name,
        described["words"],
        described["source"],
        "labels (F1)" if described.get("is_set") else "cases" if described["classes"] else "variance",
        layer,
        score,
        estimate(result, "score_embeddings", task=name),
        estimate(result, "score_majority", task=name),
        estimate(result, "gain", task=name),
        float(result["q_value"].sel(task=name)),
        at_last,
        estimate(result, "last_layer_fall", task=name) if saved else apart(score, at_last, cases).difference,
        cases,
        json.loads(result.attrs["sentences"])["report"],
        described.get("rare", 0),
        described.get("lost", 0),
    )


def from_embeddings(result: xr.Dataset) -> xr.DataArray:
    """The scores of all tasks with the embeddings as layer 0."""
    first = result["score_embeddings"].expand_dims(layer=[0], axis=1)
    return xr.concat([first, result["score"]], "layer").assign_attrs(result["score"].attrs)


def centres(result: xr.Dataset) -> dict[str, float]:
    """The centre of gravity of each task that has one."""
    if "centre_of_gravity" not in result:
        return {}
    array = result["centre_of_gravity"]
    places = dict(zip(array["task"].values.tolist(), array.values.tolist(), strict=True))
    return {task: layer for task, layer in places.items() if np.isfinite(layer)}


def tables(result: xr.Dataset) -> list[Table]:
    """One row for each task; errors of numbers by their pieces."""
    caption = (
        "Score of a linear classifier in per cent (right cases; of numbers the share of the variance, of sets of "
        "labels F1) in the layer that held-out sentences choose, with 95% intervals; random weights in the same layer; "
        "selectivity in points; concentration is the divergence of the mix from equal weights, in nats; mix is the "
        "score of a mix of all layers less that of the last one, in points."
    )
    columns = tuple(Column(name, words) for name, words in COLUMNS.items())
    return [Table("scores", caption, ("Task",), columns, list(_rows(result))), *_by_pieces(result)]


def _rows(result: xr.Dataset) -> Iterator[tuple[tuple[Any, ...], Cells]]:
    for task in tasks(result):
        labels = {"task": task.name, "layer": task.layer}
        yield (
            (task.words,),
            [
                (str(task.layer), ""),
                task.score.cell(".1f", 100),
                task.embeddings.cell(".1f", 100),
                task.majority.cell(".1f", 100),
                _cell(result, "score_random", labels, ".1f", 100),
                _cell(result, "selectivity", labels, "+.1f", 100),
                _cell(result, "compression", labels, ".2f"),
                _cell(result, "centre_of_gravity", {"task": task.name}, ".2f"),
                _cell(result, "mix_concentration", {"task": task.name}, ".2f"),
                _cell(result, "expected_layer", {"task": task.name}, ".2f") if _gains(result, task.name) else None,
                _cell(result, "mix_gain", {"task": task.name}, "+.1f", 100),
            ],
        )


def _by_pieces(result: xr.Dataset) -> Iterator[Table]:
    """The errors of the values of numbers in the layer of each task, beside its baselines."""
    if "error_by_pieces" not in result:
        return
    caption = (
        "Root of the mean squared error of the values of numbers, in their own unit, by how many pieces all numbers of "
        "a text are split into, with 95% intervals. Numbers of more pieces are also larger: the mean is the error if "
        "all numbers have the mean of the training values. After Wallace et al. (2019), whose figures could not be "
        "checked and are not here."
    )
    sizes, rows = result["pieces"].values.tolist(), list[tuple[tuple[str, str], Cells]]()
    for task in tasks(result):
        kinds = {
            f"layer {task.layer}": ("error_by_pieces", {"layer": task.layer}),
            "embeddings": ("error_by_pieces_embeddings", {}),
            "mean": ("error_by_pieces_mean", {}),
        }
        for words, (name, at) in kinds.items():
            cells: Cells = [_cell(result, name, {"task": task.name, "pieces": size} | at, "#.3g") for size in sizes]
            if any(cells):
                rows.append(((task.words, words), cells))
    columns = tuple(Column(size, size) for size in sizes)
    yield Table("pieces", caption, ("Task", "Read from"), columns, rows)


def _gains(result: xr.Dataset, task: str) -> bool:
    """Whether all layers together add to the score of the embeddings in a mix."""
    if "cumulative_score" not in result:
        return False
    scores = result["cumulative_score"].sel(task=task)
    return float(scores[-1]) > float(scores[0])


def _cell(result: xr.Dataset, name: str, labels: dict[str, Any], spec: str, scale: float = 1.0) -> Cell | None:
    if name not in result:
        return None
    return estimate(result, name, **labels).known_cell(spec, scale)
