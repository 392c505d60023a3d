"""Figures of fine-tuning: scores of each start beside the paper's, and how training went."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from headscope.figures import bars, heatmap, with_interval
from headscope.figures.curve import curve
from headscope.figures.dot_rows import dot_rows
from headscope.report.numbers import Numbers
from headscope.report.parts import Figure
from headscope.report.wording import measured
from headscope.studies.training.finetune.baseline_findings import simple_models
from headscope.studies.training.finetune.main_scores import main_metric, names
from headscope.studies.training.finetune.seed_findings import runs_of, way_of

SCORES, TRAINING = "What fine-tuning adds", "How training went"
LAYERS = "Which layers change"
SAME, SIMPLE = "constant answer", "Beside simple models"
WITHOUT_ATTENTION = (
    "The main metric of each task, with 95% intervals over dev examples, beside models without attention that are "
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


def layers(numbers: Numbers) -> Iterator[Figure]:
    """The change of attention of each layer, and by the way of its weights, for trained encoders."""
    result = numbers.result
    for name, caption in (
        ("attention_change", "1 minus the cosine of attention after the training and before it."),
        ("change_per_update", "The change of attention by all updates of a layer, as a share of its weights' length."),
        ("gradient_norm", "Mean over the recorded steps, after clipping."),
    ):
        if measured(result, name) is None:
            continue
        for task in result["task"].values.tolist():
            array = with_interval(result, name).sel(task=task, drop=True).dropna("init", how="all")
            if array.size:
                words = f"{array.attrs['long_name']}, {task}"
                chart = curve(array.assign_attrs(long_name=words).transpose("layer", "init"), "layer")
                yield Figure(f"{name}-{task}", LAYERS, chart, caption, name)


def simple(numbers: Numbers) -> Iterator[Figure]:
    """The first start of each task beside a constant answer and the simple models, by the main metric."""
    result, rows = numbers.result, []
    for task in names(result):
        where = {"task": task, "metric": main_metric(result, task)}
        scores = with_interval(result, "score").sel(where).dropna("init").isel(init=[-1])
        parts = {str(scores["init"].values[0]): scores.isel(init=0, drop=True), SAME: result["chance"].sel(where)}
        parts |= {
            name: result["baseline_score"].sel(where | {"baseline": name}) for name in simple_models(result, task)
        }
        parts = {
            name: part.drop_vars(["baseline", "n_examples", "metric"], errors="ignore") for name, part in parts.items()
        }
        empty = {bound: np.nan for bound in ("lower", "upper")}
        bounded = [part if "lower" in part.coords else part.assign_coords(empty) for part in parts.values()]
        row = xr.concat(bounded, "series", coords="different", compat="equals")
        rows.append(row.assign_coords(series=list(parts)))
    if rows:
        array = xr.concat(rows, "task", join="outer").transpose("task", "series").rename("score")
        array = array.assign_attrs(result["score"].attrs | {"long_name": SIMPLE})
        yield Figure("simple", SIMPLE, dot_rows(array), WITHOUT_ATTENTION, "baseline_score")


def training(numbers: Numbers) -> Iterator[Figure]:
    """The losses, and the scores after each epoch."""
    result = numbers.result
    for name, dim, caption in (
        ("train_loss", "progress", "Each point is the mean over a fiftieth of the training, and over seeds."),
        ("epoch_score", "epoch", "On dev, mean over seeds; the main metric of the task."),
    ):
        for task in result["task"].values.tolist() if name in result else ():
            array = _main(result, name, task)
            if array is not None and array.sizes[dim] > 1:
                words = f"{array.attrs['long_name']}, {task}"
                chart = curve(array.assign_attrs(long_name=words), dim, percent=dim == "progress")
                yield Figure(f"{name}-{task}", TRAINING, chart, caption, name)


def _main(result: xr.Dataset, name: str, task: str) -> xr.DataArray | None:
    """A variable of one task, of its main metric where there are several; without what has no values."""
    array = result[name].sel(task=task, drop=True).dropna("init", how="all")
    if not array.size:
        return None
    return array.dropna("metric", how="all").isel(metric=0, drop=True) if "metric" in array.dims else array


def _rows(array: xr.DataArray) -> xr.DataArray:
    """Tasks and metrics as one dimension of rows, starts as the other; without what has no values."""
    stacked = array.stack(row=("task", "metric")).transpose("row", "init").dropna("row", how="all")
    names = [f"{task} {metric}" for task, metric in stacked["row"].values.tolist()]
    return stacked.drop_vars(["row", "task", "metric"]).assign_coords(row=names).rename(row="task")


def _beside_paper(scores: xr.DataArray, result: xr.Dataset) -> xr.DataArray:
    """The scores and the paper's as two panels."""
    paper = _rows(result["paper_score"]).rename("score").reindex_like(scores)
    empty = paper.copy(data=np.full(paper.shape, np.nan))
    paper = paper.assign_coords({name: empty for name in ("lower", "upper", "n_examples") if name in scores.coords})
    both = xr.concat([scores, paper], "whose", coords="different", compat="equals")
    return both.assign_coords(whose=[OURS, PAPERS]).transpose("task", "init", "whose").assign_attrs(scores.attrs)


def _beside_chance(numbers: Numbers) -> xr.DataArray:
    """The scores, and before them that of always giving the same answer."""
    array = numbers.array("score")
    chance = numbers.result["chance"].expand_dims(init=[SAME])
    empty = chance.copy(data=np.full(chance.shape, np.nan))
    beside = {name: empty for name in ("lower", "upper", "n_examples") if name in array.coords}
    curves = xr.concat([chance.assign_coords(beside), array], "init", coords="different", compat="equals")
    return _rows(curves.rename("score").assign_attrs(array.attrs))


BEST, HEADS = "The best of several runs", "Heads that matter in all runs"


def seeds(numbers: Numbers) -> Iterator[Figure]:
    """For each task: the expected best score by the number of runs, and how often each head is among the first."""
    result = numbers.result
    for task in names(result):
        if "expected_best" in result and runs_of(result) > 2:
            chosen = {"task": task, "metric": main_metric(result, task)}
            array = with_interval(result, "expected_best").sel(chosen, drop=True).dropna("init", how="all")
            if array.size:
                caption = "Expected score of the best of so many runs, chosen on the same dev examples."
                yield Figure(f"expected_best-{task}", BEST, curve(array, "trials"), caption, "expected_best")
        if "important_runs" in result:
            share = result["important_runs"].sel(task=task, init=way_of(result, task), drop=True)
            if bool(share.notnull().any()):
                caption = "Share of the runs in which a head is among the tenth that matters most to the loss."
                yield Figure(f"important_runs-{task}", HEADS, heatmap(share, domain=(0, 1)), caption, "important_runs")
