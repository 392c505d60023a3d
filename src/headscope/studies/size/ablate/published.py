"""What other models lose and gain without heads (Michel et al. 2019; Kovaleva et al. 2019), beside a result."""

from collections.abc import Iterator

import xarray as xr

from headscope.corpora.tasks.metrics import LOWER_IS_BETTER
from headscope.figures.labels import label
from headscope.report.numbers import Numbers
from headscope.report.published import PublishedFigure, published_table
from headscope.report.tables import Table
from headscope.report.wording import Cell, estimate, measured
from headscope.statistics.significance import RATE

MICHEL, TRANSLATION = "Michel et al. 2019, Table 6, MNLI", "Michel et al. 2019, section 3.2, translation, p < 0.01"
KOVALEVA = "Kovaleva et al. 2019, section 4.6"
ONE_HEAD = (-0.01, -0.02, -0.26, -0.53, -0.29, -0.52, 0.05, -0.72, -0.96, 0.07, -0.19, -0.15)
GAINS = {"STS-B": "+0.1 (STS-B)", "MRPC": "+1.2 (MRPC)"}
CAPTION = (
    "Fine-tuned BERT-base (uncased, 12 layers), compared with this model, in points. The highest and lowest heads "
    "were chosen "
    "on the same examples, as in the papers, so these figures are too extreme; the papers have other tasks unless one "
    "is named."
)


def published(numbers: Numbers) -> list[Table]:
    """The published losses and gains beside those here."""
    return published_table(figures(numbers.result, numbers.main_metric), CAPTION)


def figures(result: xr.Dataset, metric: str) -> Iterator[PublishedFigure]:
    """Single heads, layers, and one head of a layer, by the main metric; none of a loss, which has no points."""
    if metric in LOWER_IS_BETTER:
        return
    name, task = label("metric", metric), str(result.attrs.get("task", ""))
    yield from _alone(result, metric)
    for variable, highest, paper in (
        ("head_gain", True, GAINS.get(task, "+0.1 (STS-B) to +1.2 (MRPC)")),
        ("layer_gain", True, "+3.2 (RTE, layer 1)"),
        ("layer_gain", False, "-0.2 (QNLI, MNLI)"),
    ):
        gains = measured(result, variable, metric=metric)
        if gains is not None:
            what = "a head" if variable == "head_gain" else "a layer's heads"
            text = f"{'highest' if highest else 'lowest'} change of {name} without {what}"
            yield PublishedFigure((text,), _extreme(gains, highest), paper, KOVALEVA, "P")
    yield from _one_head(result, metric, name)


def _alone(result: xr.Dataset, metric: str) -> Iterator[PublishedFigure]:
    rates = measured(result, "head_q_value") if metric == "accuracy" and "head_q_value" in result else None
    if rates is not None:
        there = int(rates.notnull().sum())
        here = f"{int((rates < RATE).sum())} of {there}", ""
        yield PublishedFigure((f"heads that matter alone (here q < {RATE})",), here, "8 of 96", TRANSLATION, "P")


def _one_head(result: xr.Dataset, metric: str, name: str) -> Iterator[PublishedFigure]:
    gains = measured(result, "one_head_gain", metric=metric)
    if gains is None:
        return
    layers = gains.dropna("layer")["layer"].values.tolist()
    text = f"change of {name} with one head in"
    if len(layers) == len(ONE_HEAD):
        for layer, paper in zip(layers, ONE_HEAD, strict=True):
            here = estimate(result, "one_head_gain", layer=layer, metric=metric).cell("+.2f", 100)
            yield PublishedFigure((f"{text} layer {layer}",), here, f"{paper:+.2f}", MICHEL, "P")
    else:
        for highest, paper in ((False, min(ONE_HEAD)), (True, max(ONE_HEAD))):
            words = f"{text} a layer, {'highest' if highest else 'lowest'}"
            at = f"{paper:+.2f} (layer {ONE_HEAD.index(paper) + 1})"
            yield PublishedFigure((words,), _extreme(gains, highest), at, MICHEL, "P")


def _extreme(gains: xr.DataArray, highest: bool) -> Cell:
    return f"{100 * float(gains.max() if highest else gains.min()):+.2f}", ""
