"""Figures and tables of the page: scores by speed and size, what is left of each layer, gates, steps, and groups."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from headscope.figures import curve, matrix
from headscope.figures.labels import label
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import Estimate, estimate, number, sentence_case

PATH, REMOVED, GATES = "Score against speed and size", "What was removed", "Trained gates"
OTHERS = {"weights": "longest weights, untrained", "random": "random parts, untrained"}


def facts(numbers: Numbers) -> dict[str, Any]:
    """The sizes, timings and options of the result."""
    return numbers.attribute("shrinking")


class Point(NamedTuple):
    """A model of the first figure: to which line it belongs, its score, how many times as fast it is, and its size."""

    line: str
    score: Estimate
    speed: float
    megabytes: float


def points(numbers: Numbers) -> Iterator[Point]:
    """All models of a run, the steps first."""
    saved, result, metric = facts(numbers), numbers.result, numbers.main_metric
    sizes, speeds = result["megabytes"].values.tolist(), saved["speeds"]
    line = "by gates, trained with them" if "gates" in saved else "each step, untrained"
    for step, (speed, size) in enumerate(zip(speeds, sizes, strict=True)):
        yield Point(line, estimate(result, "path_score", step=step, metric=metric), speed, size)
    score = estimate(result, "shrunk_score", metric=metric)
    yield Point("saved model", score, saved["times_as_fast"][0], saved["megabytes"][1])
    if files := saved.get("eight_bit"):
        both = zip(saved["timed"], files["milliseconds"], strict=True)
        shares = [after / timed["before"] for timed, (_, after) in both]
        score = estimate(result, "eight_bit_score", metric=metric)
        yield Point("saved model in eight bits", score, len(shares) / sum(shares), files["megabytes"][1])
    if "choice_score" in result:
        for choice, words in OTHERS.items():
            score = estimate(result, "choice_score", choice=choice, metric=metric)
            yield Point(words, score, speeds[-1], sizes[-1])


def path_figures(numbers: Numbers) -> Iterator[Figure]:
    """The main score by speed and by size."""
    caption = (
        f"Held-out {label('metric', numbers.main_metric)} after each step of the search from the whole model on, and "
        "of the saved model. For comparison models of its size with parts chosen in other ways. The band is the 95% "
        "interval of the steps; the table of the values has those of single models. "
    )
    speed = "Speed: times the whole model; of the saved model as measured, of others as expected."
    size = "Megabytes of the parameters; of all but the saved model without the pieces that go in any case."
    models = [*points(numbers)]
    for along, name, note in (("speed", "path_score", speed), ("megabytes", "path_size", size)):
        yield Figure(name, PATH, curve(_scores(numbers, models, along), along), caption + note, "path_score")


def _scores(numbers: Numbers, models: list[Point], along: str) -> xr.DataArray:
    """The scores of all models over their speed or size; NaN where a line has no model."""
    lines, dims = list(dict.fromkeys(point.line for point in models)), ("model", along)
    values = np.full((3, len(lines), len(models)), np.nan)
    for index, point in enumerate(models):
        values[:, lines.index(point.line), index] = point.score.value, point.score.lower, point.score.upper
    words = {"long_name": "score of each model, and after each step of the search"}
    coords = {"model": lines, along: [getattr(point, along) for point in models]}
    array = xr.DataArray(values[0], coords, dims, "score", numbers.result["path_score"].attrs | words)
    bounds = {"lower": (dims, values[1]), "upper": (dims, values[2])}
    return array.assign_coords(bounds if "path_score_ci" in numbers.result else {})


def open_gates(numbers: Numbers) -> Iterator[Figure]:
    """The expected share of open gates by layer."""
    words = {"layer_gate": "the layer", "open_neurons": "its neurons"}
    names = [name for name in words if name in numbers.result]
    if names:
        columns = [numbers.array(name).expand_dims(gate_of=[words[name]]) for name in names]
        array = xr.concat(columns, "gate_of", combine_attrs="drop").rename("gates").transpose("layer", "gate_of")
        array.attrs = {"long_name": "expected share of open gates", "units": "share"}
        caption = "Expected share of open gates: of each layer as a whole, and of its neurons."
        yield Figure(names[0], GATES, matrix(array), caption, names[0])


def steps(numbers: Numbers) -> Table:
    """A row for each step: the part, what it cost, and the score, the speed and the size after it."""
    metric, speeds, result = numbers.main_metric, facts(numbers)["speeds"], numbers.result
    titles = ["Part", sentence_case(label("metric", metric)), "95% interval", "Cost", "Speed", "MB"]
    caption = (
        "Steps of the search. Cost: what the step adds to the change of the outputs. Speed: times the whole model, as "
        "expected; before the training of the saved model."
    )
    rows = list[tuple[str, Cells]]()
    for step, part in zip(result["step"].values.tolist(), result["part"].values.tolist(), strict=True):
        score, interval = estimate(result, "path_score", step=step, metric=metric).cell(".3f")
        cost = estimate(result, "exact_change", step=step).known_cell(".3f")
        megabytes = estimate(result, "megabytes", step=step).known_cell(".1f")
        cells: Cells = [(part, ""), (score, ""), (interval, ""), cost, (number(speeds[step], ".2f"), ""), megabytes]
        rows.append((str(step), cells))
    return titled("steps", caption, "Step", titles, rows)


def groups(numbers: Numbers) -> Table:
    """A row for each group: how many inputs it has, what they lose, and what all others lose."""
    titles = ["Inputs", "Loss", "95% interval", "Loss of others", "95% interval of others"]
    unit = numbers.array("group_loss").attrs["units"]
    rows = list[tuple[str, Cells]]()
    for group in numbers.result["input_group"].values.tolist():
        cells: Cells = [(f"{numbers.n('group_loss', input_group=group, within='group'):,}", "")]
        for within in ("group", "others"):
            loss = estimate(numbers.result, "group_loss", input_group=group, within=within)
            cells += [(number(loss.value, ".3f"), ""), (loss.cell(".3f")[1], "")]
        rows.append((group, cells))
    return titled("groups", f"What groups of held-out inputs lose in the saved model ({unit}).", "Group", titles, rows)


def changed_examples(numbers: Numbers) -> Table | None:
    """A row for each example that is kept: its text, its label or the other text if it has one, and both answers."""
    if not (rows := facts(numbers).get("changed")):
        return None
    titles = {"other": "Other text", "label": "Label", "before": "Whole model", "after": "Saved model"}
    titles = {name: title for name, title in titles.items() if name in rows[0]}
    caption = "Held-out examples by how far their answer moved."
    if "other" in titles:
        caption = "Pairs of held-out texts by how far the cosine of their embeddings moved; each text is in one pair."
    cells: list[tuple[str, Cells]] = [(row["text"], [(_answer(row[name]), "") for name in titles]) for row in rows]
    return titled("changed", caption, "Text", titles.values(), cells)


def _answer(value: str | float) -> str:
    return value if isinstance(value, str) else number(value, ".2f")
