"""Findings of the training: loss and accuracy before, after, and by frequency alone."""

from collections.abc import Iterator

import xarray as xr

from headscope.report.parts import Finding
from headscope.report.wording import Estimate, estimate, number

TRAINED = {"trained": "The encoder was trained too: its heads may have changed.", "frozen": "The encoder was frozen."}


def findings(result: xr.Dataset) -> list[Finding]:
    """The scores after the training, and whether they are better than those of frequencies."""
    return [*_loss(result), *_accuracy(result), *_longer(result), *_head(result)]


def _last(result: xr.Dataset, name: str) -> Estimate:
    return estimate(result, name, epoch=result["epoch"].values[-1])


def _loss(result: xr.Dataset) -> Iterator[Finding]:
    loss, perplexity = _last(result, "loss"), _last(result, "perplexity")
    chance, before = float(result["unigram_loss"]), float(result["loss"].sel(epoch=0))
    text = (
        f"Loss of masked tokens: {loss.text} nats (perplexity {perplexity.cell('.1f')[0]}) on "
        f"{int(result['loss_n_examples']):,} masked tokens of the held-out text; {number(before)} before the training, "
        f"{number(chance)} by the frequency of the pieces alone."
    )
    if not loss.upper < chance:
        text += " The head is not clearly better than frequencies: train on more text, or for more epochs."
    yield Finding("Loss", text)


def _accuracy(result: xr.Dataset) -> Iterator[Finding]:
    accuracy, chance = _last(result, "accuracy"), Estimate(float(result["unigram_accuracy"]))
    yield Finding("Accuracy", f"{accuracy.percent} of the masked tokens; the most frequent piece {chance.percent}.")


def _longer(result: xr.Dataset) -> Iterator[Finding]:
    """Whether the loss still fell in the last epoch."""
    losses = result["loss"].values
    if len(losses) > 2 and losses[-1] < losses[-2]:
        fall = number(float(losses[-2] - losses[-1]))
        yield Finding("More epochs", f"The loss still fell by {fall} nats in the last epoch.")
    elif len(losses) > 2:
        best = int(result["epoch"].values[losses.argmin()])
        yield Finding("Fewer epochs", f"The loss was lowest after epoch {best}; --keep best keeps that model.")


def _head(result: xr.Dataset) -> Iterator[Finding]:
    head = str(result.attrs.get("adapted_head", ""))
    words = next((text for name, text in TRAINED.items() if f"encoder {name}" in head), "")
    yield Finding("The head", f"It is {head}. {words}".strip())
