"""Result variables of the training: loss, perplexity and accuracy of masked tokens by epoch, beside unigrams."""

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import interval, poisson_draws
from headscope.studies.pretrain_head.unigrams import unigram_outputs
from headscope.training import TrainedOutputs
from headscope.training.loop import MaskedExamples
from headscope.training.loss_curve import PARTS, loss_curve

SOURCE = "masked tokens of the held-out text"
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
    variables, unigrams = Variables(coords, SOURCE), unigram_outputs(examples.pieces, frequencies)
    masked = Count(int(before[:, 1].sum()), "masked tokens of the held-out text", "tokens")
    for name, (long_name, units) in LABELS.items():
        values, bounds = _with_interval(name, epochs, draws)
        variables.add(name, values, ("epoch",), long_name=long_name, units=units, interval=bounds, count=masked)
        chance = SCORES[name](unigrams.sum(0))
        variables.add(
            f"unigram_{name}", chance, long_name=f"{long_name}, by frequency of the pieces alone", units=units
        )
    variables.add(
        "train_loss",
        loss_curve(trained.train_loss),
        ("progress",),
        long_name="loss in training",
        units="nats",
        source="mean over the steps of each fiftieth of the training",
    )
    return xr.Dataset(variables.arrays)


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
LABELS = {
    "loss": ("loss of masked tokens", "nats"),
    "perplexity": ("perplexity of masked tokens", "pieces"),
    "accuracy": ("masked tokens predicted right", "fraction"),
}
