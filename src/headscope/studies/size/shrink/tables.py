"""Tables of the page: steps of the search, ways to eight bits, groups of inputs, and answers that changed."""

from headscope.figures.labels import label
from headscope.report.numbers import Numbers
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import estimate, number
from headscope.studies.size.shrink.figures import facts


def steps(numbers: Numbers) -> Table:
    """A row for each step: the part, what it cost, and the score, the speed and the size after it."""
    metric, speeds, result = numbers.main_metric, facts(numbers)["speeds"], numbers.result
    titles = ["Part", label("metric", metric).capitalize(), "95% interval", "Cost", "Estimated", "Speed", "MB"]
    caption = (
        "Steps of the search. Cost: what the step adds to the change of the outputs; estimated: by the part alone. "
        "Speed: times the whole model, as expected; before the training of the saved model."
    )
    rows = list[tuple[str, Cells]]()
    for step, part in zip(result["step"].values.tolist(), result["part"].values.tolist(), strict=True):
        score, interval = estimate(result, "path_score", step=step, metric=metric).cell(".3f")
        cost, alone = (estimate(result, name, step=step) for name in ("exact_change", "estimated_change"))
        cells: Cells = [(part, ""), (score, ""), (interval, ""), cost.known_cell(".3f"), alone.known_cell(".3f")]
        megabytes = estimate(result, "megabytes", step=step).known_cell(".1f")
        rows.append((str(step), [*cells, (number(speeds[step], ".2f"), ""), megabytes]))
    return titled("steps", caption, "Step", titles, rows)


def trials(numbers: Numbers) -> Table | None:
    """A row for each way to eight bits that was tried; none without such a file."""
    if not (files := facts(numbers).get("eight_bit")):
        return None
    caption = (
        "Ways to eight bits: the change of the outputs from those in float32, on texts that choose, and megabytes of "
        "the file. Saved is the smallest that changes the outputs by 0.01 or less, else the one with the least change."
    )
    rows = list[tuple[str, Cells]]()
    for trial in files["trials"]:
        saved = ", saved" if trial["options"] == files["options"] else ""
        cells: Cells = [(number(trial["change"], ".4f"), ""), (number(trial["megabytes"], ".2f"), "")]
        rows.append((f"{trial['options']}{saved}", cells))
    return titled("eight_bit_trials", caption, "Options", ["Change", "MB"], rows)


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
