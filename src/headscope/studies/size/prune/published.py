"""How many heads other models can lose, and their gain of speed (Michel et al. 2019, section 4), beside a result.

And the scores of parts of the model (Prasanna et al. 2020).
"""

from collections.abc import Iterator

from headscope.corpora.tasks.metrics import LOWER_IS_BETTER
from headscope.report.numbers import Numbers
from headscope.report.published import PublishedFigure, published_table
from headscope.report.tables import Table

CHARTS, TABLE = "Michel et al. 2019, charts of section 4", "Michel et al. 2019, section 4"
SHARES = {"MNLI": "40% (MNLI)", "SST-2": "60% (SST-2)", "CoLA": "50% (CoLA)", "MRPC": "50% (MRPC)"}
# Accuracy of parts of BERT-base, mean over five seeds: heads that stay, as many at random, and those that do not stay.
PARTS = {
    "MNLI": (".780", ".741", ".579"), "MRPC": (".778", ".701", ".357"), "QNLI": (".847", ".768", ".559"),
    "QQP": (".835", ".765", ".750"), "RTE": (".580", ".549", ".534"), "SST-2": (".855", ".739", ".896"),
}  # fmt: skip
PRASANNA = "Prasanna et al. 2020, released results; pruned to 90% of the score, here to as many heads as are asked for"
CAPTION = (
    "Fine-tuned BERT-base (uncased), compared with this model. No clear loss: here up to the first step whose loss is "
    "beyond "
    "chance by its 95% interval, which comes late with few examples; in the papers by eye."
)


def published(numbers: Numbers) -> list[Table]:
    """The published shares of heads and gains of speed beside those here."""
    return published_table(figures(numbers), CAPTION)


def figures(numbers: Numbers) -> Iterator[PublishedFigure]:
    """The share of heads that goes without a clear loss, and the gain of speed."""
    paper = SHARES.get(numbers.words["task"], "; ".join(SHARES.values()))
    here = f"{no_clear_loss(numbers):.0%}", ""
    yield PublishedFigure(("heads removed with no clear loss",), here, paper, CHARTS, "~")
    seconds, heads = numbers.attribute("forward_s"), numbers.result["heads_left"].sum("layer")[0]
    gone = float(numbers.result["removed_at"].count() / heads)
    words = f"examples a second, {gone:.0%} of the heads removed here, half there"
    here = f"{seconds['before'] / seconds['after'] - 1:+.1%} (batch of {seconds['inputs']})", ""
    if "accuracy" in numbers.result["metric"].values:
        yield from parts(numbers)
    yield PublishedFigure((words,), here, "+1.9%, +2.7%, +17.5%, +17.5% (batches of 1, 4, 16, 64)", TABLE, "P")


def parts(numbers: Numbers) -> Iterator[PublishedFigure]:
    """The accuracy of good, random and bad parts of the model."""
    labels = ("good", "random", "bad") if "subnetwork_score" in numbers.result else ()
    task = numbers.words["task"] if numbers.words["task"] in PARTS else "MRPC"
    words = ("the heads that stay", "as many at random", "the least important heads (there those that do not stay)")
    for at, part in enumerate(labels):
        here = numbers("subnetwork_score", subnetwork=part, metric="accuracy").cell(".3f")
        yield PublishedFigure((f"accuracy with {words[at]}",), here, f"{PARTS[task][at]} ({task})", PRASANNA, "R")


def no_clear_loss(numbers: Numbers) -> float:
    """The largest share of removed heads up to which no step has a loss beyond chance."""
    metric, most = str(numbers.result["metric"].values[0]), 0.0
    for share in numbers.labels("score_change", "share_removed")[1:]:
        change = numbers("score_change", share_removed=share, metric=metric)
        if not change.tested or (-change if metric in LOWER_IS_BETTER else change).upper < 0:
            break
        most = share
    return most
