"""Figures of fine-tuning: scores of each start beside the paper's, and how training went."""

import xarray as xr

from headscope.figures import bars, heatmap
from headscope.figures.curve import curve
from headscope.figures.dot_rows import dot_rows
from headscope.report.declared import Chart
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure
from headscope.results import in_series, joined
from headscope.studies.training.finetune.seed_findings import runs_of
from headscope.studies.training.finetune.tasks import TaskNumbers, by_task, tasks

SCORES, TRAINING = "What fine-tuning adds", "How training went"
LAYERS, BEST, HEADS = "Which layers change", "The best of several runs", "Heads that matter in all runs"
TITLE = "{long_name}, {label}"
SAME, SIMPLE = "constant answer", "Beside simple models"
WITHOUT_ATTENTION = (
    "The main metric of each task, with 95% intervals over dev examples, and models without attention that are "
    "trained on the same examples; one sentence of a pair alone should know nothing."
)
OURS, PAPERS = "this model", "BERT-base in the paper"


def scores(numbers: Numbers) -> Figure:
    """Scores by task and start, with the paper's beside them."""
    array, caption = _beside_chance(numbers), "With 95% intervals over dev examples."
    if "paper_score" in numbers.result:
        array = _beside_paper(array, numbers.result)
        caption += (
            " Beside them Kovaleva et al. (2019), Table 1, where it has the task; its BERT-base is a larger model."
        )
    return Figure("score", SCORES, bars(array, width=300), caption, "score")


def simple(numbers: Numbers) -> Figure:
    """The last way of each task beside a constant answer and the simple models, by the main metric."""
    result, rows = numbers.result, []
    for task in tasks(numbers):
        last = task.scores.dropna("init").isel(init=-1)
        series = {str(last["init"].item()): last, SAME: result["chance"].sel(task.where)}
        series |= {name: result["baseline_score"].sel(task.where | {"baseline": name}) for name in task.simple_models}
        plain = {name: part.drop_vars(["baseline", "init", "metric"], errors="ignore") for name, part in series.items()}
        rows.append(in_series(plain).assign_coords(task=task.name))
    array = joined(rows, "task").transpose("task", "series").rename("score")
    array = array.assign_attrs(result["score"].attrs | {"long_name": SIMPLE})
    return Figure("simple", SIMPLE, dot_rows(array), WITHOUT_ATTENTION, "baseline_score")


def by_layer(name: str, caption: str) -> Chart:
    """A number of the layers of trained encoders, a chart for each task."""
    style = {"dim": "layer"}
    return Chart(name, "curve", LAYERS, caption, dims=("layer", "init"), per="task", title=TITLE, style=style)


@by_task
def epochs(task: TaskNumbers) -> Figure | None:
    """The scores after each epoch."""
    array = task.numbers.array("epoch_score", **task.where).dropna("init", how="all")
    chart = curve(array.assign_attrs(long_name=f"{array.attrs['long_name']}, {task.name}"), "epoch")
    caption = "On dev, mean over seeds; the main metric of the task."
    is_shown = array.sizes["epoch"] > 1
    return Figure(f"epoch_score-{task.name}", TRAINING, chart, caption, "epoch_score") if is_shown else None


@by_task
def best_of_runs(task: TaskNumbers) -> Figure | None:
    """The expected best score by the number of runs."""
    array = task.numbers.array("expected_best", **task.where).dropna("init", how="all")
    caption = "Expected score of the best of this many runs, chosen on the same dev examples."
    figure = Figure(f"expected_best-{task.name}", BEST, curve(array, "trials"), caption, "expected_best")
    return figure if runs_of(task.numbers) > 2 else None


@by_task
def important_heads(task: TaskNumbers) -> Figure:
    """How often each head is among the first."""
    share = task.numbers.array("important_runs", task=task.name, init=task.main_init)
    caption = "Share of the runs in which a head is in the top tenth by importance to the loss."
    return Figure(f"important_runs-{task.name}", HEADS, heatmap(share, domain=(0, 1)), caption, "important_runs")


def _rows(array: xr.DataArray) -> xr.DataArray:
    """Tasks and metrics as one dimension of rows, starts as the other; without what has no values."""
    stacked = array.stack(row=("task", "metric")).transpose("row", "init").dropna("row", how="all")
    names = [f"{task} {metric}" for task, metric in stacked["row"].values.tolist()]
    return stacked.drop_vars(["row", "task", "metric"]).assign_coords(row=names).rename(row="task")


def _beside_paper(scores: xr.DataArray, result: xr.Dataset) -> xr.DataArray:
    """The scores and the paper's as two panels."""
    paper = _rows(result["paper_score"]).rename("score").reindex_like(scores)
    both = joined([scores, paper], "whose")
    return both.assign_coords(whose=[OURS, PAPERS]).transpose("task", "init", "whose").assign_attrs(scores.attrs)


def _beside_chance(numbers: Numbers) -> xr.DataArray:
    """The scores, and before them that of always giving the same answer."""
    array, chance = numbers.array("score"), numbers.result["chance"].expand_dims(init=[SAME])
    both = joined([chance, array], "init")
    return _rows(both.rename("score").assign_attrs(array.attrs))


MOVED = "1 minus the cosine of attention after the training and before it."
PER_UPDATE = "The change of attention, divided by all updates of the layer (as a share of its weights' norm)."
FIFTIETHS = "Each point is the mean over a fiftieth of the training, and over seeds."
CHARTS = (
    *(scores, simple),
    by_layer("attention_change", MOVED),
    by_layer("change_per_update", PER_UPDATE),
    by_layer("gradient_norm", "Mean over the recorded steps, after clipping."),
    Chart(
        *("train_loss", "curve", TRAINING, FIFTIETHS),
        per="task",
        title=TITLE,
        drop="init",
        style={"dim": "progress", "percent": True},
    ),
    *(epochs, best_of_runs, important_heads),
)
