"""Frequencies of pieces: the start of the output bias, and the baseline of masked words."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from transformers import PreTrainedModel

from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import IGNORED


def log_frequencies(inputs: Sequence[Encoded], size: int) -> Float[np.ndarray, " piece"]:
    """Log frequency of each of `size` pieces in the inputs, in nats; each counts 0.1 more than it occurs."""
    counts = 0.1 + np.bincount(np.concatenate([encoded.inputs["input_ids"] for encoded in inputs]), minlength=size)
    return np.log(counts / counts.sum())


def set_output_bias(network: PreTrainedModel, frequencies: Float[np.ndarray, " piece"]) -> None:
    """Set the bias of the output layer to the log frequencies, centred; a layer without a bias stays as it is."""
    bias = getattr(network.get_output_embeddings(), "bias", None)
    if isinstance(bias, torch.Tensor) and len(bias) == len(frequencies):
        with torch.no_grad():
            bias.copy_(torch.from_numpy(frequencies - frequencies.mean()))


def unigram_outputs(
    pieces: Sequence[Int[np.ndarray, " token"]], frequencies: Float[np.ndarray, " piece"]
) -> Float[np.ndarray, "example 3"]:
    """Summed loss, number of masked tokens and number of hits of each input, if pieces are predicted by frequency."""
    best, rows = int(frequencies.argmax()), []
    for each in pieces:
        answers = each[each != IGNORED]
        rows.append((-frequencies[answers].sum(), len(answers), (answers == best).sum()))
    return np.array(rows, dtype=np.float64)
