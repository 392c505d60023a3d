"""Tables: the steps of the search, groups of inputs, and examples that are answered otherwise."""

from collections.abc import Iterator

import xarray as xr

from headscope.figures.labels import label
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, number
from headscope.studies.shrink.page.eight_bit import trials
from headscope.studies.shrink.page.findings import facts
from headscope.studies.shrink.page.kinds import kinds_table

BY_LAYER = ()


def tables(result: xr.Dataset) -> list[Table]:
    """The steps of the search, ways to eight bits, kinds of heads, what groups lose, and answers that changed."""
    return [_steps(result), *trials(facts(result)), *kinds_table(result), *_groups(result), *_changed(result)]


def _steps(result: xr.Dataset) -> Table:
    """A row for each step: the part, what it cost, and the score, the speed and the size after it."""
    metric = str(result["metric"].values[0])
    titles = ["Part", label("metric", metric).capitalize(), "95% interval", "Cost", "Estimated", "Speed", "MB"]
    caption = (
        "Steps of the search. Cost: what the step adds to the change of the outputs; estimated: by the part alone. "
        "Speed: times the whole model, as expected; before the training of the saved model."
    )
    speeds = facts(result)["speeds"]
    rows = [(str(step), _cells(result, step, metric, speeds[step])) for step in result["step"].values.tolist()]
    return titled("steps", caption, "Step", titles, rows)


def _cells(result: xr.Dataset, step: int, metric: str, speed: float) -> Cells:
    score, interval = estimate(result, "path_score", step=step, metric=metric).cell(".3f")
    return [
        (str(result["part"].sel(step=step).item()), ""),
        (score, ""),
        (interval, ""),
        *(estimate(result, name, step=step).known_cell(".3f") for name in ("exact_change", "estimated_change")),
        (number(speed, ".2f"), ""),
        estimate(result, "megabytes", step=step).known_cell(".1f"),
    ]


def _groups(result: xr.Dataset) -> Iterator[Table]:
    """A row for each group: how many inputs it has, what they lose, and what all others lose."""
    if "group_loss" not in result:
        return
    titles = ["Inputs", "Loss", "95% interval", "Loss of others", "95% interval of others"]
    caption = f"What groups of held-out inputs lose in the saved model ({result['group_loss'].attrs['units']})."
    counts = result["group_loss_n_examples"].sel(within="group")
    rows = []
    for group in result["input_group"].values.tolist():
        cells: Cells = [(f"{int(counts.sel(input_group=group)):,}", "")]
        for within in ("group", "others"):
            loss = estimate(result, "group_loss", input_group=group, within=within)
            cells += [(number(loss.value, ".3f"), ""), (loss.cell(".3f")[1], "")]
        rows.append((group, cells))
    yield titled("groups", caption, "Group", titles, rows)


def _changed(result: xr.Dataset) -> Iterator[Table]:
    """A row for each example that is kept: its text, its label or the other text if it has one, and both answers."""
    if not (rows := facts(result).get("changed")):
        return
    words = {"other": "Other text", "label": "Label", "before": "Whole model", "after": "Saved model"}
    shown = [name for name in words if name in rows[0]]
    caption = "Held-out examples by how far their answer moved."
    if "other" in shown:
        caption = "Pairs of held-out texts by how far the cosine of their embeddings moved; each text is in one pair."
    titles = [words[name] for name in shown]
    cells: list[tuple[str, Cells]] = [(row["text"], [(_answer(row[name]), "") for name in shown]) for row in rows]
    yield titled("changed", caption, "Text", titles, cells)


def _answer(value: str | float) -> str:
    return value if isinstance(value, str) else number(value, ".2f")
