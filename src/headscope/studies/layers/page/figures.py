"""Figures of `layers`: tasks by layers, selectivity, codes, mixes."""

import json
from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import curve, with_interval
from headscope.figures.layer_scores import layer_grid, layer_scores
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Column, Table
from headscope.report.wording import measured
from headscope.results import same_bounds
from headscope.studies.layers.page.tables import centres, from_embeddings, tasks

RANDOM = "With random weights: score by layer, in per cent"
GRID, CONTROLS, CODES, MIXES = "Tasks by layers", "Control tasks", "Online code", "Mixes of layers"
PIECES = "Errors of numbers by their pieces"
LATE, MOST_LATE, LETTERS = "Single cases", 16, 60


def figures(result: xr.Dataset) -> list[Figure]:
    """The figures of a result."""
    return [
        *_grid(result),
        *_random(result),
        *_selectivity(result),
        *_codes(result),
        *_mixes(result),
        *_pieces(result),
        *_late(result),
    ]


def _grid(result: xr.Dataset) -> Iterator[Figure]:
    words = {task.name: task.words for task in tasks(result)}
    framed = {task.name: task.layer for task in tasks(result)}
    marks = centres(result)
    mark = "centre of gravity of the scalar mix" if marks else "none"
    caption = (
        "Score of a linear classifier in each layer in per cent: right cases, of numbers the share of the variance, of "
        "sets of labels F1. "
        "The layer that held-out sentences choose is framed; a diamond marks the centre of gravity of the scalar mix. "
        "After Tenney et al. (2019), Figure 1, and Rogers et al. (2020), Figure 5."
    )
    array = from_embeddings(result).rename("score")
    yield Figure("score", GRID, layer_scores(array, marks, mark, framed=framed, words=words), caption, "score")


def _random(result: xr.Dataset) -> Iterator[Figure]:
    array = measured(result, "score_random")
    if array is not None:
        words = {task.name: task.words for task in tasks(result)}
        framed = {task.name: task.layer for task in tasks(result)}
        caption = "The same grid for the model with random weights, with the same layers framed."
        yield Figure(
            "score-random",
            GRID,
            layer_scores(array, {}, "none", framed=framed, words=words, heading=RANDOM),
            caption,
            "score_random",
        )


def _selectivity(result: xr.Dataset) -> Iterator[Figure]:
    caption = (
        "Score less that on a control task, in which each word has one random answer: what a probe owes to the "
        "vectors, not to its own memory. Hewitt and Liang (2019)."
    )
    yield from _curves(result, "selectivity", CONTROLS, caption)


def _codes(result: xr.Dataset) -> Iterator[Figure]:
    caption = (
        "Length of a uniform code of the training answers, divided by that of an online code with the classifiers: "
        "high where answers are easy to learn. Voita and Titov (2020)."
    )
    yield from _curves(result, "compression", CODES, caption)


def _mixes(result: xr.Dataset) -> Iterator[Figure]:
    caption = "Weights of the embeddings (0) and of each layer in a trained mix. Tenney et al. (2019)."
    yield from _curves(result, "mix_weight", MIXES, caption, "space")
    caption = "Score of a mix of the embeddings (0) and the layers up to each. Tenney et al. (2019)."
    yield from _curves(result, "cumulative_score", MIXES, caption, "space")


def _pieces(result: xr.Dataset) -> Iterator[Figure]:
    """Errors of the values of numbers from the embeddings on, a line for each number of pieces."""
    if "error_by_pieces" not in result:
        return
    first = with_interval(result, "error_by_pieces_embeddings").expand_dims(layer=[0])
    layers = with_interval(result, "error_by_pieces").drop_vars("n_examples", errors="ignore")
    array = xr.concat(same_bounds([first, layers]), "layer").rename("error_by_pieces")
    array.attrs |= result["error_by_pieces"].attrs
    for task in tasks(result):
        own = array.sel(task=task.name, drop=True).dropna("pieces", how="all")
        if own.sizes["pieces"]:
            caption = (
                f"{task.words.capitalize()}: root of the mean squared error in the numbers' own unit, from the "
                "embeddings (0) on. Numbers of more pieces are also larger. After Wallace et al. (2019)."
            )
            chart = curve(own.transpose("layer", "pieces"), "layer")
            yield Figure(f"pieces-{task.name}".replace("_", "-"), PIECES, chart, caption, "error_by_pieces")


def _late(result: xr.Dataset) -> Iterator[Figure]:
    """Single cases: the answer of the mix up to each layer."""
    cases = json.loads(result.attrs.get("late", "[]"))[:MOST_LATE]
    if cases:
        coords = {
            "number": [f"{number}. {case['task']}: {case['text']}"[:LETTERS] for number, case in enumerate(cases, 1)],
            "layer": list(range(len(cases[0]["answers"]))),
            "text": (("number", "layer"), [[answer[:7] for answer in case["answers"]] for case in cases]),
            "chosen": ("number", [case["settled"] for case in cases]),
        }
        right = [[float(answer == case["answer"]) for answer in case["answers"]] for case in cases]
        caption = (
            "The answer of a mix of the embeddings (0) and the layers up to each, for single tested cases that are "
            "settled late; dark where it is right. Framed: the layer from which on it stays right. After Tenney et al. "
            "(2019), section 4.2. The cases are chosen for this and do not stand for others."
        )
        array = xr.DataArray(right, coords, ("number", "layer"))
        columns = tuple(
            Column(str(layer), f"Up to layer {layer}" if layer else "Embeddings") for layer in coords["layer"]
        )
        rows: list[Any] = [((_whole(case),), [(answer, "") for answer in case["answers"]]) for case in cases]
        table = Table("late", "Answers for single cases by layer", ("Case and right answer",), columns, rows)
        yield Figure("late", LATE, layer_grid(array, "Cases that are solved late"), caption, "cumulative_score", table)


def _whole(case: dict[str, Any]) -> str:
    return f"{case['task']}: {case['text']} ({case['answer']})"


def _curves(result: xr.Dataset, name: str, section: str, caption: str, dim: str = "layer") -> Iterator[Figure]:
    array = measured(result, name)
    if array is None:
        return
    described = json.loads(result.attrs["tasks"])
    array = array.dropna("task", how="all").drop_vars("n_examples", errors="ignore")
    # As many lines as there are colours.
    parts = [array.isel(task=slice(first, first + 7)) for first in range(0, array.sizes["task"], 7)]
    for number, part in enumerate(parts, 1):
        labels = [described[task]["words"] for task in part["task"].values.tolist()]
        chart = curve(part.assign_coords(task=labels).transpose(dim, "task"), dim)
        yield Figure(f"{name}-{number}".replace("_", "-"), section, chart, caption, name)


def layer_numbers(result: xr.Dataset) -> Iterator[LayerNumber]:
    """The score of each task from the embeddings on; other cases than those of the score choose the layer."""
    first = with_interval(result, "score_embeddings").expand_dims(layer=[0])
    scores = xr.concat(same_bounds([first, with_interval(result, "score")]), "layer")
    for task in tasks(result):
        array = scores.sel(task=task.name, drop=True)
        if bool(array.notnull().any()):
            yield LayerNumber("Probing classifiers", task.words, array, task.layer)
