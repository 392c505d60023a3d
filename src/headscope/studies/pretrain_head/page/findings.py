"""Findings of the training: loss and accuracy before, after, and by frequency alone."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.claims import below, paired
from headscope.report.parts import Finding
from headscope.report.wording import Estimate, estimate, number

TRAINED = {"trained": "The encoder was trained too: its heads may have changed.", "frozen": "The encoder was frozen."}


def findings(result: xr.Dataset) -> list[Finding]:
    """The scores after the training, and whether they are better than those of frequencies."""
    return [*_loss(result), *_accuracy(result), *_longer(result), *_head(result)]


def _last(result: xr.Dataset, name: str) -> Estimate:
    return estimate(result, name, epoch=result["epoch"].values[-1])


def _loss(result: xr.Dataset) -> Iterator[Finding]:
    """The last loss beside that of frequencies alone, on the same tokens."""
    loss, perplexity = _last(result, "loss"), _last(result, "perplexity")
    chance, before, tokens = (float(result["unigram_loss"]), float(result["loss"][0]), int(result["loss_n_examples"]))
    text = (
        f"Loss of masked tokens: {loss.text} nats (perplexity {perplexity.cell('.1f')[0]}) on {tokens:,} masked tokens "
        f"of the held-out text; {number(before)} before the training, {number(chance)} by the frequency of the pieces "
        "alone."
    )
    claim = below(loss, chance, tokens)
    if "loss_gain" in result:
        claim = paired(loss, Estimate(chance), _last(result, "loss_gain"), int(result["loss_gain_n_examples"]), 0)
        text += f" That is {claim.difference.text} nats less."
    if claim.verdict != "holds":
        text += " Train on more text, or for more epochs."
    yield Finding.judged(
        claim,
        text,
        holds="The head predicts masked tokens better than frequencies do",
        fails="The head predicts masked tokens no better than frequencies do",
        undecided="It cannot be told whether the head is better than frequencies",
        unit="masked tokens",
    )


def _accuracy(result: xr.Dataset) -> Iterator[Finding]:
    accuracy, chance = _last(result, "accuracy"), Estimate(float(result["unigram_accuracy"]))
    gain = f", {_last(result, 'accuracy_gain').points} points" if "accuracy_gain" in result else ""
    yield Finding(
        "Accuracy", f"{accuracy.percent} of the masked tokens; the most frequent piece {chance.percent}{gain}."
    )


def _longer(result: xr.Dataset) -> Iterator[Finding]:
    """The loss of the last epochs, without a test: both are of the same tokens, but of one training."""
    losses = result["loss"].values
    if len(losses) > 2:
        best = int(result["epoch"].values[losses.argmin()])
        advice = "" if best == result["epoch"].values[-1] else f" It was lowest after epoch {best}; see --keep best."
        text = (
            f"In the last epoch the loss went from {number(float(losses[-2]))} to {number(float(losses[-1]))}.{advice}"
        )
        yield Finding("Last epoch", text)


def _head(result: xr.Dataset) -> Iterator[Finding]:
    head = str(result.attrs.get("adapted_head", ""))
    words = next((text for name, text in TRAINED.items() if f"encoder {name}" in head), "")
    yield Finding("The head", f"It is {head}. {words}".strip())
