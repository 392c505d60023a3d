"""Scores of the fine-tuned models beside a constant answer and the paper."""

from itertools import product

import xarray as xr

from headscope.figures.labels import label
from headscope.report.numbers import Numbers
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import estimate

NAMES = ("Score", "95% interval", "Constant answer", "BERT-base")


def score_table(numbers: Numbers) -> Table:
    """A row for each task, init and metric that has a score."""
    result = numbers.result
    rows = [
        ((task, label("init", init), label("metric", metric)), _cells(result, task=task, init=init, metric=metric))
        for task in result["task"].values.tolist()
        for init in result["init"].values.tolist()
        for metric in result["metric"].values.tolist()
        if bool(result["score"].sel(task=task, init=init, metric=metric).notnull())
    ]
    caption = (
        "Scores on dev, the mean over seeds. Constant answer: the score without any input. BERT-base: Table 1 of "
        "Kovaleva et al. (2019)."
    )
    columns = tuple(Column(name.lower(), name) for name in NAMES)
    return Table("scores", caption, ("Task", "Way", "Metric"), columns, rows)


def simple_table(numbers: Numbers) -> Table:
    """The scores of simple models, and how much better a model of each init is."""
    result = numbers.result
    names = result["baseline"].values.tolist()
    columns = tuple(Column(name, label("baseline", name)) for name in names)
    caption = (
        "Scores of simple models on dev, and below them how much better each model is on the same examples, with "
        "95% intervals. They are trained on the same examples, without attention."
    )
    rows = []
    for task, metric in product(result["task"].values.tolist(), result["metric"].values.tolist()):
        where = {"task": task, "metric": metric}
        scores = [estimate(result, "baseline_score", **where, baseline=name).known_cell(".3f") for name in names]
        if any(scores):
            rows.append(((task, label("metric", metric), "score"), scores))
        for init in result["init"].values.tolist():
            gains = [
                estimate(result, "baseline_gain", **where, init=init, baseline=name).known_cell("+.3f")
                for name in names
            ]
            if any(gains):
                rows.append(((task, label("metric", metric), f"{label('init', init)}, gain"), gains))
    return Table("simple", caption, ("Task", "Metric", "Number"), columns, rows)


def _cells(result: xr.Dataset, **where: str) -> Cells:
    score, interval = estimate(result, "score", **where).cell(".3f")
    chance = estimate(result, "chance", task=where["task"], metric=where["metric"]).known_cell(".3f")
    paper = estimate(result, "paper_score", **where).known_cell(".3f") if "paper_score" in result else None
    return [(score, ""), (interval, ""), chance, paper]
