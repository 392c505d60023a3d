"""Result variables of the training: loss, perplexity and accuracy of masked tokens by epoch, beside unigrams."""

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import Score, effective_units
from headscope.studies.training.pretrain_head import STUDY
from headscope.training import TrainedOutputs
from headscope.training.loop import MaskedExamples
from headscope.training.piece_frequencies import unigram_outputs
from headscope.training.trainer import PARTS, loss_curve

Outputs = Float[np.ndarray, "epoch example 3"]


def to_variables(
    before: Float[np.ndarray, "example 3"],
    trained: TrainedOutputs,
    examples: MaskedExamples,
    frequencies: Float[np.ndarray, " piece"],
    settings: Settings,
    units: Sequence[int],
) -> xr.Dataset:
    """Result variables of a training.

    * `before`: outputs of the untrained head for the held-out inputs: summed loss, masked tokens, hits.
    * `frequencies`: log frequencies of the pieces, by the training text.
    * `units`: the number of what each held-out input is resampled with, its document or itself.
    """
    epochs = np.concatenate([before[None], trained.epoch_outputs]).astype(np.float64)  # [epoch, example, 3]
    draws = poisson_draws(units, settings.seed, settings.resamples)
    coords = {"epoch": range(len(epochs)), "progress": [(part + 1) / PARTS for part in range(PARTS)]}
    variables, unigrams = Variables(coords, STUDY.source, STUDY.labels), unigram_outputs(examples.pieces, frequencies)
    masked = Count(int(before[:, 1].sum()), "masked tokens of the held-out text", "tokens")
    resampled = len(np.unique(np.asarray(units)[before[:, 1] > 0]))
    inputs = Count(resampled, "held-out inputs with masked tokens, or documents of these", "inputs")
    for name in SCORES:
        score = _resampled(SCORES[name], epochs, draws)
        variables.add(name, score.mean, interval=score.interval, count=masked)
        unigram = _resampled(SCORES[name], unigrams[None], draws)
        variables.add(f"unigram_{name}", unigram.mean[0])
        if name in GAINS:
            gain = score - unigram
            bounds = np.sort(GAINS[name] * gain.interval)
            variables.add(f"{name}_gain", GAINS[name] * gain.mean, interval=bounds, count=inputs)
    variables.add("train_loss", loss_curve(trained.train_loss))
    return xr.Dataset(variables.arrays)


def _resampled(
    score: Callable[[np.ndarray], np.ndarray], outputs: Outputs, draws: Float[np.ndarray, "resample example"]
) -> Score:
    """A score of each epoch, with those of the resamples that drew a masked token."""
    totals = np.einsum("re,pes->rps", draws, outputs)  # [resample, epoch, 3]
    kept = totals[totals[:, 0, 1] > 0]
    units = float(effective_units(totals[:, 0, 1]))
    return Score(score(outputs.sum(1)), score(kept), int(outputs[0, :, 1].sum()), units)


SCORES = {
    "loss": lambda totals: totals[..., 0] / totals[..., 1],
    "perplexity": lambda totals: np.exp(totals[..., 0] / totals[..., 1]),
    "accuracy": lambda totals: totals[..., 2] / totals[..., 1],
}
# Scores whose gain on frequencies is saved: -1 where less is better.
GAINS = {"loss": -1, "accuracy": 1}
