"""Charts of `layers`: tasks by layers, selectivity, codes, mixes, errors of numbers, and single cases."""

from collections.abc import Iterator
from typing import Any

import xarray as xr

from headscope.figures import curve
from headscope.figures.by_layer import layer_grid, layer_scores
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Column, Table
from headscope.results import joined
from headscope.studies.layers.layers.tables import centres, tasks

RANDOM = "With random weights: score by layer, in per cent"
GRID, MIXES = "Tasks by layers", "Mixes of layers"
MOST_LATE, LETTERS, ANSWER = 16, 60, 7
COLOURS = 7  # as many lines as there are colours
# Of each number with a curve for each task: the section, the dimension, and what is shown.
CURVES = {
    "selectivity": (
        *("Control tasks", "layer"),
        "Score minus that on a control task, in which each word has one random answer: what a probe reads from the "
        "vectors, not from its own memory. Hewitt and Liang (2019).",
    ),
    "compression": (
        *("Online code", "layer"),
        "Length of a uniform code of the training answers, divided by that of an online code with the classifiers: "
        "high where answers are easy to learn. Voita and Titov (2020).",
    ),
    "mix_weight": (
        *(MIXES, "space"),
        "Weights of the embeddings (0) and of each layer in a trained mix. Tenney et al. (2019).",
    ),
    "cumulative_score": (
        *(MIXES, "space"),
        "Score of a mix of the embeddings (0) and the layers up to each. Tenney et al. (2019).",
    ),
    "removal_harm": (
        *("Removal of properties", "space"),
        "What is added to the loss of words where a task's answers are removed from all states, those of the "
        "embeddings (0) or of a layer. Elazar, Ravfogel et al. (2021).",
    ),
}


def grid(numbers: Numbers) -> Figure:
    """The scores of all tasks, with the embeddings as layer 0."""
    result, marks = numbers.result, centres(numbers.result)
    mark = "centre of gravity of the scalar mix" if marks else "none"
    caption = (
        "Score of a linear classifier in each layer in per cent: right cases, for numbers the share of the variance, "
        "for sets of labels F1. The layer that held-out sentences choose is framed; a diamond marks the centre of "
        "gravity of the scalar mix. "
        "After Tenney et al. (2019), Figure 1, and Rogers et al. (2020), Figure 5."
    )
    first = result["score_embeddings"].expand_dims(layer=[0], axis=1)
    array = joined([first, result["score"]], "layer").assign_attrs(result["score"].attrs).rename("score")
    return Figure("score", GRID, layer_scores(array, marks, mark, **_framed(numbers)), caption, "score")


def random_grid(numbers: Numbers) -> Figure:
    """The same with random weights."""
    caption = "The same grid for the model with random weights, with the same layers framed."
    chart = layer_scores(numbers.array("score_random"), {}, "none", **_framed(numbers), heading=RANDOM)
    return Figure("score-random", GRID, chart, caption, "score_random")


def _framed(numbers: Numbers) -> dict[str, Any]:
    """The layer and the words of each task."""
    summaries = tasks(numbers)
    return {
        "framed": {task.name: task.layer for task in summaries},
        "words": {task.name: task.words for task in summaries},
    }


def curves(numbers: Numbers, name: str) -> Iterator[Figure]:
    """Curves of a number, a line for each task."""
    section, dim, caption = CURVES[name]
    array, described = numbers.array(name), numbers.attribute("tasks")
    array = array.dropna("task", how="all").drop_vars("n_examples", errors="ignore")
    for number, first in enumerate(range(0, array.sizes["task"], COLOURS), 1):
        part = array.isel(task=slice(first, first + COLOURS))
        labels = [described[task]["words"] for task in part["task"].values.tolist()]
        chart = curve(part.assign_coords(task=labels).transpose(dim, "task"), dim)
        yield Figure(f"{name}-{number}".replace("_", "-"), section, chart, caption, name)


def pieces(numbers: Numbers) -> Iterator[Figure]:
    """Errors of the values of numbers from the embeddings on, a line for each number of pieces."""
    first = numbers.array("error_by_pieces_embeddings").expand_dims(layer=[0])
    layers = numbers.array("error_by_pieces").drop_vars("n_examples", errors="ignore")
    array = joined([first, layers], "layer").rename("error_by_pieces")
    array.attrs |= layers.attrs
    for task in tasks(numbers):
        errors = array.sel(task=task.name, drop=True).dropna("pieces", how="all")
        if errors.sizes["pieces"]:
            caption = (
                f"{task.words.capitalize()}: root of the mean squared error in the numbers' own unit, from the "
                "embeddings (0) on. Numbers of more pieces are also larger. After Wallace et al. (2019)."
            )
            name, chart = f"pieces-{task.name}".replace("_", "-"), curve(errors.transpose("layer", "pieces"), "layer")
            yield Figure(name, "Errors of numbers by their pieces", chart, caption, "error_by_pieces")


def late(numbers: Numbers) -> Iterator[Figure]:
    """Single cases: the answer of the mix up to each layer."""
    if cases := numbers.attribute("late")[:MOST_LATE]:
        coords = {
            "number": [f"{number}. {case['task']}: {case['text']}"[:LETTERS] for number, case in enumerate(cases, 1)],
            "layer": list(range(len(cases[0]["answers"]))),
            "text": (("number", "layer"), [[answer[:ANSWER] for answer in case["answers"]] for case in cases]),
            "chosen": ("number", [case["settled"] for case in cases]),
        }
        right = [[float(answer == case["answer"]) for answer in case["answers"]] for case in cases]
        caption = (
            "The answer of a mix of the embeddings (0) and the layers up to each, for single tested cases that are "
            "settled late; dark where it is right. Framed: the layer from which on it stays right. After Tenney et al. "
            "(2019), section 4.2. These cases were chosen for it and are not typical."
        )
        chart = layer_grid(xr.DataArray(right, coords, ("number", "layer")), "Cases that are solved late")
        yield Figure("late", "Single cases", chart, caption, "cumulative_score", _answers(cases))


def _answers(cases: list[dict[str, Any]]) -> Table:
    """The answers for single cases in full."""
    layers = range(len(cases[0]["answers"]))
    columns = tuple(Column(str(layer), f"Up to layer {layer}" if layer else "Embeddings") for layer in layers)
    rows: list[Any] = [
        ((f"{case['task']}: {case['text']} ({case['answer']})",), [(answer, "") for answer in case["answers"]])
        for case in cases
    ]
    return Table("late", "Answers for single cases by layer", ("Case and right answer",), columns, rows)


def layer_numbers(numbers: Numbers) -> Iterator[LayerNumber]:
    """The score of each task from the embeddings on; other cases than those of the score choose the layer."""
    first = numbers.array("score_embeddings").expand_dims(layer=[0])
    all_layers = joined([first, numbers.array("score")], "layer")
    for task in tasks(numbers):
        array = all_layers.sel(task=task.name, drop=True)
        if bool(array.notnull().any()):
            yield LayerNumber("Probing classifiers", task.words, array, task.layer)
