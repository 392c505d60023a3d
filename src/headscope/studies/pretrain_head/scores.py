"""Result variables of the training: loss, perplexity and accuracy of masked tokens by epoch, beside unigrams."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.encoding.masking import IGNORED
from headscope.passes import Settings
from headscope.results.variables import Count, Label, Variables
from headscope.statistics.bootstrap import interval, poisson_draws
from headscope.training import TrainedOutputs
from headscope.training.loop import MaskedExamples
from headscope.training.loss_curve import PARTS, loss_curve

SOURCE = "masked tokens of the held-out text"
LOSS, PERPLEXITY, ACCURACY = "loss of masked tokens", "perplexity of masked tokens", "masked tokens predicted right"
UNIGRAMS = "by frequency of the pieces alone"
LABELS = {
    "loss": Label(LOSS, "nats", ("epoch",)),
    "unigram_loss": Label(f"{LOSS}, {UNIGRAMS}", "nats"),
    "perplexity": Label(PERPLEXITY, "pieces", ("epoch",)),
    "unigram_perplexity": Label(f"{PERPLEXITY}, {UNIGRAMS}", "pieces"),
    "accuracy": Label(ACCURACY, "fraction", ("epoch",)),
    "unigram_accuracy": Label(f"{ACCURACY}, {UNIGRAMS}", "fraction"),
    "train_loss": Label(
        "loss in training", "nats", ("progress",), "mean over the steps of each fiftieth of the training"
    ),
}
Outputs = Float[np.ndarray, "epoch example 3"]


def to_variables(
    before: Float[np.ndarray, "example 3"],
    trained: TrainedOutputs,
    examples: MaskedExamples,
    frequencies: Float[np.ndarray, " piece"],
    settings: Settings,
) -> xr.Dataset:
    """Result variables of a training.

    * `before`: outputs of the untrained head for the held-out inputs: summed loss, masked tokens, hits.
    * `frequencies`: log frequencies of the pieces in the training text.
    """
    epochs = np.concatenate([before[None], trained.epoch_outputs]).astype(np.float64)  # [epoch, example, 3]
    draws = poisson_draws(range(len(before)), settings.seed, settings.resamples)
    coords = {"epoch": range(len(epochs)), "progress": [(part + 1) / PARTS for part in range(PARTS)]}
    variables, unigrams = Variables(coords, SOURCE, LABELS), unigram_outputs(examples.pieces, frequencies)
    masked = Count(int(before[:, 1].sum()), "masked tokens of the held-out text", "tokens")
    for name in SCORES:
        values, bounds = _with_interval(name, epochs, draws)
        variables.add(name, values, interval=bounds, count=masked)
        variables.add(f"unigram_{name}", SCORES[name](unigrams.sum(0)))
    variables.add("train_loss", loss_curve(trained.train_loss))
    return xr.Dataset(variables.arrays)


def unigram_outputs(
    pieces: Sequence[Int[np.ndarray, " token"]], frequencies: Float[np.ndarray, " piece"]
) -> Float[np.ndarray, "example 3"]:
    """Summed loss, number of masked tokens and number of hits of each input, if pieces are predicted by frequency."""
    best, answers = int(frequencies.argmax()), [some[some != IGNORED] for some in pieces]
    rows = [(-frequencies[masked].sum(), len(masked), (masked == best).sum()) for masked in answers]
    return np.array(rows, dtype=np.float64)


def _with_interval(name: str, outputs: Outputs, draws: Float[np.ndarray, "resample example"]) -> tuple:
    """A score of each epoch. Returns: the scores; their 95% intervals, [epoch, bound]."""
    # [resample, epoch, 3]
    totals = np.einsum("re,pes->rps", draws, outputs)
    kept = totals[totals[:, 0, 1] > 0]
    return SCORES[name](outputs.sum(1)), interval(SCORES[name](kept))


SCORES = {
    "loss": lambda totals: totals[..., 0] / totals[..., 1],
    "perplexity": lambda totals: np.exp(totals[..., 0] / totals[..., 1]),
    "accuracy": lambda totals: totals[..., 2] / totals[..., 1],
}
