"""How many heads other models can lose, and their gain of speed (Michel et al. 2019, section 4), beside a result."""

import json
from collections.abc import Iterator

import xarray as xr

from headscope.corpora.tasks.metrics import LOWER_IS_BETTER
from headscope.report.published import PublishedFigure
from headscope.report.wording import estimate

CHARTS, TABLE = "Michel et al. 2019, charts of section 4", "Michel et al. 2019, section 4"
SHARES = {"MNLI": "40% (MNLI)", "SST-2": "60% (SST-2)", "CoLA": "50% (CoLA)", "MRPC": "50% (MRPC)"}
CAPTION = (
    "Fine-tuned BERT-base (uncased) beside this model. No clear loss: here up to the first step whose loss is beyond "
    "chance by its 95% interval, which few examples make late; there by eye."
)


def figures(result: xr.Dataset) -> Iterator[PublishedFigure]:
    """The share of heads that goes without a clear loss, and the gain of speed."""
    task = str(result.attrs.get("task", ""))
    paper = SHARES.get(task, "; ".join(SHARES.values()))
    yield PublishedFigure(
        ("heads removed with no clear loss",), (f"{no_clear_loss(result):.0%}", ""), paper, CHARTS, "~"
    )
    if "forward_s" in result.attrs:
        seconds = json.loads(result.attrs["forward_s"])
        left = result["heads_left"].sum("layer")
        removed = result["removed_at"].count() / left[0]
        words = f"examples a second, {float(removed):.0%} of the heads removed here, half there"
        here = f"{seconds['before'] / seconds['after'] - 1:+.1%} (batch of {seconds['inputs']})", ""
        yield PublishedFigure((words,), here, "+1.9%, +2.7%, +17.5%, +17.5% (batches of 1, 4, 16, 64)", TABLE, "P")


def no_clear_loss(result: xr.Dataset) -> float:
    """The largest share of removed heads up to which no step has a loss beyond chance."""
    metric, most = str(result["metric"].values[0]), 0.0
    sign = -1 if metric in LOWER_IS_BETTER else 1
    for share in result["share_removed"].values[1:].tolist():
        change = estimate(result, "score_change", share_removed=share, metric=metric)
        if not change.tested or (change if sign > 0 else -change).upper < 0:
            break
        most = share
    return most
