"""The page of `landscape`: the width around trained models, and the loss along the line and over the plane."""

from collections.abc import Iterator

from headscope.figures import matrix
from headscope.figures.labels import label
from headscope.report.claims import apart
from headscope.report.declared import Chart, StudyParts
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Cell, Column, Table
from headscope.report.wording import estimate, number, several

START = {"finetuned": "from pre-trained weights", "random": "from random weights"}
ALONG = (
    "From the weights before the training (0) to those after it (1), and beyond; with 95% intervals over examples. Hao "
    "et al. (2019) draw it for BERT-large."
)


def wider(numbers: Numbers) -> Finding:
    """Whether the model from pre-trained weights lies in a wider minimum; only of models that lie in one."""
    trained, random = (numbers("width", init=init) for init in START)
    rise, directions = numbers.attribute("recipe")["rise"], numbers.result.sizes["direction_number"]
    for init, words in START.items():
        start, end = (estimate(numbers.result, "line_loss", init=init, position=nearest(numbers, at)) for at in (0, 1))
        if (fall := start.value - end.value) < rise:
            return Finding(
                "The widths cannot be compared",
                f"The loss of the model that was trained {words} changes by {number(-fall)} over its training; a width "
                f"is bounded by a rise of {number(rise)}: it lies on a plateau, not in a minimum.",
            )
    return Finding.judged(
        apart(trained, random, directions, least=0.0),
        f"The loss rises by less than {number(rise)} within {trained} lengths of the filters around the model that "
        f"was trained from pre-trained weights, and within {random} around that from random weights; over "
        f"{several(directions, 'random direction')}.",
        holds="From pre-trained weights the model ends in a wider minimum",
        fails="From pre-trained weights the model does not end in a wider minimum",
        undecided="It cannot be told which model ends in a wider minimum",
        unit="directions",
    )


def nearest(numbers: Numbers, end: float) -> float:
    """The position that is nearest to an end of the training."""
    return float(numbers.result["position"].sel(position=end, method="nearest"))


def widths(numbers: Numbers) -> Iterator[Finding]:
    """The widths along single directions, and those along which the loss did not rise enough."""
    most = 2 * float(numbers.attribute("recipe")["radius"])
    for init in numbers.labels("width", "init"):
        values = numbers.array("direction_width", init=init)
        text = (
            f"Width {numbers('width', init=init)} lengths of the filters, from {number(float(values.min()))} to "
            f"{number(float(values.max()))} along single directions."
        )
        if beyond := int((values >= most - 1e-9).sum()):
            text += f" Along {several(beyond, 'direction')} the loss did not rise enough within the radius."
        yield Finding(f"Width {START.get(init, init)}", text)


def barriers(numbers: Numbers) -> Iterator[Finding]:
    """The loss at the start and the end of each line, and the highest between them."""
    for init in numbers.labels("line_loss", "init"):
        loss = numbers.array("line_loss", init=init).dropna("position")
        within = loss.where((loss["position"] >= 0) & (loss["position"] <= 1), drop=True)
        if within.size > 1:
            start, end = float(within[0]), float(within[-1])
            highest = float(within.max()) - max(start, end)
            barrier = f"; between them it rises {number(highest)} above the higher one" if highest > 0 else ""
            text = (
                f"The loss falls from {number(start)} to {number(end)} along the straight line from start to end"
                if end < start
                else f"The loss is {number(start)} at the start and {number(end)} at the end of the straight line"
            )
            yield Finding(f"Line {START.get(init, init)}", f"{text}{barrier}.")


def planes(numbers: Numbers) -> Iterator[Figure]:
    """A plane of each model, with one scale of colours."""
    for init in numbers.labels("plane_loss", "init"):
        plane = numbers.array("plane_loss", init=init)
        if plane.size > 1:
            caption = (
                f"The model that was trained {START.get(init, init)} is in the middle; steps along two random "
                "directions, in lengths of the filters, with the same axes for all models."
            )
            rounded = plane.assign_coords({dim: plane[dim].round(3) for dim in plane.dims})
            chart = matrix(rounded, side=300)
            yield Figure(f"plane_loss-{init}", "Loss around the model", chart, caption, "plane_loss")


def table(numbers: Numbers) -> Table:
    """A row for each model: its width, and the loss at both ends of its line."""

    def cell(name: str, **labels: object) -> Cell | None:
        return estimate(numbers.result, name, **labels).known_cell(".3f")

    rows = [
        (
            (label("init", init),),
            [
                cell("width", init=init),
                *(cell("line_loss", init=init, position=nearest(numbers, end)) for end in (0, 1)),
            ],
        )
        for init in numbers.labels("width", "init")
    ]
    columns = (Column("width", "Width"), Column("start", "Loss at the start"), Column("end", "Loss at the end"))
    caption = "Width in lengths of the filters, with 95% intervals over directions; losses over examples."
    return Table("widths", caption, ("Model",), columns, rows)


LINES = Chart("line_loss", "curve", "Loss along the line", ALONG, drop="position", style={"dim": "position"})
PAGE = StudyParts(findings=(wider, widths, barriers), charts=(LINES, planes), tables=(table,))
