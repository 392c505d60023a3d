"""How often pieces occur in the text of a training, and what is predicted by that alone."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from headscope.encoding.encoded import Encoded
from headscope.encoding.masking import IGNORED, maskable


def piece_counts(inputs: Sequence[Encoded], tokenizer: PreTrainedTokenizerBase, size: int) -> Int[np.ndarray, " piece"]:
    """How often each of `size` pieces occurs where it may be masked."""
    pieces = [encoded.inputs["input_ids"][maskable(encoded, tokenizer)] for encoded in inputs]
    return np.bincount(np.concatenate(pieces), minlength=size)


def log_frequencies(counts: Int[np.ndarray, " piece"]) -> Float[np.ndarray, " piece"]:
    """Log frequency in nats of each piece in further text, by its count.

    Pieces without a count share the frequency of those that occur once (Good 1953; one of each kind is added, so that
    it is neither 0 nor 1). A constant count for each would give them more where pieces are few: a head that has
    learned nothing but frequencies would then be better than these.

    >>> np.exp(log_frequencies(np.array([0, 0, 1, 7]))).round(3)
    array([0.1, 0.1, 0.1, 0.7])
    """
    unseen = counts == 0
    new = (np.sum(counts == 1) + 1) / (counts.sum() + 2) if unseen.any() else 0.0
    return np.log(np.where(unseen, new / max(unseen.sum(), 1), (1 - new) * counts / max(counts.sum(), 1)))


def unigram_outputs(
    pieces: Sequence[Int[np.ndarray, " token"]], frequencies: Float[np.ndarray, " piece"]
) -> Float[np.ndarray, "example 3"]:
    """Summed loss, number of masked tokens and number of hits of each input, if pieces are predicted by frequency."""
    best, answers = int(frequencies.argmax()), [some[some != IGNORED] for some in pieces]
    rows = [(-frequencies[masked].sum(), len(masked), (masked == best).sum()) for masked in answers]
    return np.array(rows, dtype=np.float64)


def set_output_bias(network: PreTrainedModel, frequencies: Float[np.ndarray, " piece"]) -> None:
    """Set the bias of the output layer to log frequencies, centred; a layer without a bias stays as it is."""
    bias = getattr(network.get_output_embeddings(), "bias", None)
    if isinstance(bias, torch.Tensor) and len(bias) == len(frequencies):
        with torch.no_grad():
            bias.copy_(torch.from_numpy(frequencies - frequencies.mean()))
