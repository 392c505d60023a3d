"""Ways to fine-tune beside each other: scores, what they gain on training all weights, and what they cost."""

from collections.abc import Iterator

import xarray as xr
from scipy.stats import norm

from headscope.figures.labels import label
from headscope.report.claims import above
from headscope.report.numbers import Numbers
from headscope.report.parts import Finding
from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate, estimate, number
from headscope.statistics.interval_tests import WIDTH
from headscope.studies.training.finetune.main_scores import main_metric, names

ALL = "finetuned"
COSTS = (("trained_parameters", 1e6), ("train_seconds", 1.0), ("train_memory", 2**20))
COLUMNS = (
    Column("score", "Score"),
    Column("way_gain", "Beside all weights"),
    Column("trained_parameters", "Trained, millions"),
    Column("train_seconds", "Seconds"),
    Column("train_memory", "Memory, MiB"),
)
CAPTION = (
    "Ways to fine-tune by the main metric of each task, the mean over runs, with 95% intervals over dev examples. "
    "Seconds are those of training steps; memory has weights, gradients, Adam's moments, and what the first batch "
    "keeps for its backward pass."
)


def way_table(numbers: Numbers) -> Iterator[Table]:
    """A row for each task and way."""
    result = numbers.result
    if "trained_parameters" not in result:
        return
    rows = []
    for task in names(result):
        for init in result["init"].values.tolist():
            where = {"task": task, "metric": main_metric(result, task), "init": init}
            score = estimate(result, "score", **where).known_cell(".3f")
            gain = gain_of(result, where)
            costs = [_cost(result, name, scale, task, init) for name, scale in COSTS]
            if score:
                rows.append(((task, label("init", init)), [score, gain and gain.known_cell("+.3f"), *costs]))
    yield Table("ways", CAPTION, ("Task", "Way"), COLUMNS, rows)


def against_all_weights(numbers: Numbers) -> Iterator[Finding]:
    """For each task the way that gains most on training all weights; corrected, as it is chosen among all."""
    result = numbers.result
    for task in names(result):
        where = {"task": task, "metric": main_metric(result, task)}
        gains = {init: gain_of(result, where | {"init": init}) for init in result["init"].values.tolist()}
        known = {init: gain for init, gain in gains.items() if gain and gain.tested}
        if known:
            best = max(known, key=lambda init: known[init].value)
            yield _beside(result, task, best, known)


def _beside(result: xr.Dataset, task: str, best: str, gains: dict[str, Estimate]) -> Finding:
    gain, metric = gains[best], main_metric(result, task)
    error = (gain.upper - gain.lower) / WIDTH
    q = min(1.0, 2 * len(gains) * float(norm.sf(gain.value / error))) if error > 0 else float("nan")
    n = int(result["way_gain_n_examples"].sel(task=task, metric=metric, init=best))
    other = sorted(gains, key=lambda init: -gains[init].value)
    texts = [f"{label('init', init)} {gains[init].signed}{_share(result, task, init)}" for init in other]
    words = label("init", best)
    return Finding.judged(
        above(gain, 0.0, n, q),
        f"{metric.capitalize()} beside training all weights, on the same examples: {'; '.join(texts)}.",
        holds=f"{task}: {words} scores above training all weights",
        fails=f"{task}: no other way scores above training all weights",
        undecided=f"{task}: no other way surely scores above training all weights",
        unit="examples",
    )


def _share(result: xr.Dataset, task: str, init: str) -> str:
    """The share of the parameters that are trained, of those that training all weights trains."""
    if "trained_parameters" not in result:
        return ""
    trained = result["trained_parameters"].sel(task=task)
    share = float(trained.sel(init=init)) / float(trained.sel(init=ALL))
    return f" with {number(100 * share, '.2g')}% of the trained parameters" if share < 1 else ""


def gain_of(result: xr.Dataset, where: dict[str, str]) -> Estimate | None:
    """How much better a way is than training all weights; None where that is not known."""
    if "way_gain" not in result:
        return None
    gain = estimate(result, "way_gain", **where)
    return gain if gain.value == gain.value else None


def _cost(result: xr.Dataset, name: str, scale: float, task: str, init: str) -> tuple[str, str] | None:
    value = float(result[name].sel(task=task, init=init)) / scale if name in result else float("nan")
    return (number(value, ".3g"), "") if value == value else None
