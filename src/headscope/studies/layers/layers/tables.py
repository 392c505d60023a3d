"""Scores of all tasks in one table: the selected layer beside baselines, and the mix of layers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from headscope.report.claims import POINT, Claim
from headscope.report.numbers import MissingNumber, Numbers
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import Cell, Estimate, estimate
from headscope.statistics.significance import enough

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
    "gain_concentration": "Gain concentration",
    "mix_gain": "Mix",
}


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """A task at the layer that cases for choices choose.

    * `words`: its name in words; `unit`: what the score is, "cases", "variance" or "labels (F1)".
    * `score`, `embeddings`, `majority`, `gain`, `q`: there, and of baselines.
    * `cases`, `n`: tested cases, and what an interval rests on: cases of one sentence are not independent.
    * `is_sense`: whether it is read from the nearest case of the same word, and judged beside its most frequent sense.
    * `rare`: cases whose answer has too few training cases, which are wrong; `lost`: cases to train on or test without
      a token that the model reads.
    """

    name: str
    words: str
    unit: str
    layer: int
    score: Estimate
    embeddings: Estimate
    majority: Estimate
    gain: Estimate
    q: float
    cases: int
    n: int
    rare: int
    lost: int
    is_sense: bool

    @property
    def complete(self) -> bool:
        """Whether it has a score there, and all baselines."""
        return all(np.isfinite(part.value) for part in (self.score, self.embeddings, self.majority, self.gain))

    @property
    def claim(self) -> Claim:
        """Whether the layer adds to the embeddings."""
        return Claim(self.score.value, self.embeddings.value, self.gain, self.n, self.q, POINT)


def tasks(numbers: Numbers) -> list[TaskSummary]:
    """All tasks of a result, in its order."""
    described, sentences = numbers.attribute("tasks"), numbers.attribute("sentences")["report"]
    names = numbers.result["score"]["task"].values.tolist()
    return [_task(numbers.result, name, described[name], sentences) for name in names]


def _task(result: xr.Dataset, name: str, described: dict, sentences: int) -> TaskSummary:
    layer, cases = (int(result[variable].sel(task=name)) for variable in ("chosen_layer", "score_n_examples"))
    return TaskSummary(
        name,
        described["words"],
        "labels (F1)" if described.get("is_set") else "cases" if described["classes"] else "variance",
        layer,
        estimate(result, "score", task=name, layer=layer),
        estimate(result, "score_embeddings", task=name),
        estimate(result, "score_majority", task=name),
        estimate(result, "gain", task=name),
        float(result["q_value"].sel(task=name)),
        cases,
        min(cases, sentences),
        described.get("rare", 0),
        described.get("lost", 0),
        described.get("is_sense", False),
    )


def complete(numbers: Numbers) -> list[TaskSummary]:
    """The tasks of classifiers that have a score and all baselines.

    Raises `MissingNumber` if there is none.
    """
    if summaries := [task for task in tasks(numbers) if task.complete and not task.is_sense]:
        return summaries
    raise MissingNumber("score")


def with_cases(numbers: Numbers) -> list[TaskSummary]:
    """Complete tasks, without those of fewer than 50 tested cases if there are others: these are mostly chance."""
    summaries = complete(numbers)
    return [task for task in summaries if enough(task.cases)] or summaries


def centres(result: xr.Dataset) -> dict[str, float]:
    """The centre of gravity of each task that has one."""
    if "centre_of_gravity" not in result:
        return {}
    array = result["centre_of_gravity"].dropna("task")
    return dict(zip(array["task"].values.tolist(), array.values.tolist(), strict=True))


def scores(numbers: Numbers) -> Table:
    """One row for each task."""
    caption = (
        "Score of a linear classifier in per cent (right cases; for numbers the share of the variance, for sets of "
        "labels F1) in the layer that held-out sentences choose, with 95% intervals; random weights in the same layer; "
        "selectivity in points; concentration is the divergence of the mix from equal weights where its training "
        "stopped, in nats, gain concentration that of the shares of layers in all gains; mix is the score of a mix of "
        "all layers minus that of the last one, in points."
    )
    columns = tuple(Column(name, words) for name, words in COLUMNS.items())
    rows = [((task.words,), _cells(numbers.result, task)) for task in tasks(numbers)]
    return Table("scores", caption, ("Task",), columns, rows)


def _cells(result: xr.Dataset, task: TaskSummary) -> Cells:
    labels, alone = {"task": task.name, "layer": task.layer}, {"task": task.name}
    return [
        (str(task.layer), ""),
        *(score.cell(".1f", 100) for score in (task.score, task.embeddings, task.majority)),
        _cell(result, "score_random", labels, ".1f", 100),
        _cell(result, "selectivity", labels, "+.1f", 100),
        _cell(result, "compression", labels, ".2f"),
        _cell(result, "centre_of_gravity", alone, ".2f"),
        _cell(result, "mix_concentration", alone, ".2f"),
        *(
            _cell(result, name, alone, ".2f") if _gains(result, task.name) else None
            for name in ("expected_layer", "gain_concentration")
        ),
        _cell(result, "mix_gain", alone, "+.1f", 100),
    ]


def _gains(result: xr.Dataset, task: str) -> bool:
    """Whether all layers together add to the score of the embeddings in a mix."""
    return "cumulative_score" in result and bool(np.diff(result["cumulative_score"].sel(task=task)[[0, -1]]) > 0)


def _cell(result: xr.Dataset, name: str, labels: dict[str, Any], spec: str, scale: float = 1.0) -> Cell | None:
    return estimate(result, name, **labels).known_cell(spec, scale) if name in result else None


def by_pieces(numbers: Numbers) -> Table:
    """The errors of the values of numbers in the layer of each task, beside its baselines."""
    caption = (
        "Root of the mean squared error of the values of numbers, in their own unit, by how many pieces all numbers of "
        "a text are split into, with 95% intervals. Numbers of more pieces are also larger: the mean is the error if "
        "all numbers have the mean of the training values. After Wallace et al. (2019), whose figures could not be "
        "checked and are not here."
    )
    sizes, rows = numbers.array("error_by_pieces")["pieces"].values.tolist(), list[tuple[tuple[str, str], Cells]]()
    for task in tasks(numbers):
        kinds = {
            f"layer {task.layer}": ("error_by_pieces", {"layer": task.layer}),
            "embeddings": ("error_by_pieces_embeddings", {}),
            "mean": ("error_by_pieces_mean", {}),
        }
        for words, (name, at) in kinds.items():
            labels = [{"task": task.name, "pieces": size} | at for size in sizes]
            cells: Cells = [_cell(numbers.result, name, at_size, "#.3g") for at_size in labels]
            if any(cells):
                rows.append(((task.words, words), cells))
    return Table("pieces", caption, ("Task", "Read from"), tuple(Column(size, size) for size in sizes), rows)


def sense(numbers: Numbers) -> TaskSummary:
    """The task of senses. Raises `MissingNumber` without one."""
    for task in tasks(numbers):
        if task.is_sense:
            return task
    raise MissingNumber("sense_gain")


def senses_by_layer(numbers: Numbers) -> Table:
    """The nearest neighbour and the clusters of senses in each space, beside random weights."""
    task, result = sense(numbers), numbers.result
    caption = (
        "Cases in per cent whose nearest training case of the same word, by the cosine, has their sense; minus the "
        f"most frequent training sense ({task.majority:%}) on the same cases, in points; and mean silhouette of senses "
        "(1: clusters apart, 0: none), with 95% intervals. Random weights: mean over seeds."
    )
    columns = ("Nearest", "Above most frequent", "Random weights", "Silhouette", "Silhouette, random weights")
    rows = list[tuple[tuple[str], Cells]]()
    for space in numbers.array("sense_gain")["space"].values.tolist():
        at, alone = {"task": task.name, "layer": space}, {"space": space}
        cells: Cells = [_cell(result, "score", at, ".1f", 100) if space else task.embeddings.cell(".1f", 100)]
        cells.append(_cell(result, "sense_gain", alone, "+.1f", 100))
        cells.append(_cell(result, "score_random", at, ".1f", 100) if space else None)
        cells.append(_cell(result, "sense_silhouette", alone, "+.3f"))
        random = result.get("sense_silhouette_random")
        cells.append(None if random is None else (f"{float(random.sel(alone).mean()):+.3f}", ""))
        rows.append(((str(space),), cells))
    return Table("senses", caption, ("Layer",), tuple(Column(name, name) for name in columns), rows)


def removals(numbers: Numbers) -> Table:
    """What the removal of each property does in each space, beside that of random directions."""
    caption = (
        "Loss of the right piece with the answers of a task removed from all states, minus that before "
        f"({numbers('word_loss')}), in nats with 95% intervals, and with as many random directions removed (mean over "
        "draws); and the score of classifiers trained before and after, in per cent. Elazar, Ravfogel et al. (2021), "
        "with the erasers of Belrose et al. (2023)."
    )
    columns = ("Directions", "Added loss", "Random directions", "Score before", "Score after")
    harm, random = numbers.array("removal_harm"), numbers.array("removal_harm_random").mean("draw")
    rows = list[tuple[tuple[str, str], Cells]]()
    for task in (task for task in tasks(numbers) if bool(harm.sel(task=task.name).notnull().any())):
        for space in harm["space"].values.tolist():
            at = {"task": task.name, "space": space}
            cells: Cells = [_cell(numbers.result, "removal_rank", at, ".0f")]
            cells += [_cell(numbers.result, "removal_harm", at, "+.3f"), (f"{float(random.sel(at)):+.3f}", "")]
            cells += [_cell(numbers.result, f"removal_score{end}", at, ".1f", 100) for end in ("_before", "")]
            rows.append(((task.words, str(space)), cells))
    return Table("removal", caption, ("Task", "Layer"), tuple(Column(name, name) for name in columns), rows)
