"""Counts what a model predicts in a corpus before its attention is read: a pass of its own, with the head for words."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Int

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.frequencies import Frequencies
from headscope.encoding.masking import IGNORED, maskable, masked
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.outputs.losses import refuse_non_finite
from headscope.outputs.words.few_tokens import Reader, fastest_reader
from headscope.outputs.words.inputs import PredictedPieces
from headscope.passes import Settings
from headscope.passes.batches import collator
from headscope.passes.passes import Pass
from headscope.passes.shards import Fold

# A causal model predicts the token after every seventh one, about as many as are masked.
EVERY = 7

Places = Int[np.ndarray, " place"]
Counts = Int[np.ndarray, " piece"]


def predictions_of(model: Model, corpus: Corpus, settings: Settings, standing: Frequencies) -> Frequencies:
    """How often a model with a head for words predicts each piece, at a sample of the tokens of a corpus.

    A masked model predicts the pieces behind 15% of the tokens of an input, masked together (Devlin et al. 2019); a
    causal model the token after every seventh one. The piece with the highest logit counts, right or wrong.

    * `standing`: how often each piece stands in the corpus.

    Raises `KeyboardInterrupt` after Ctrl-C: the same run goes on from its checkpoint.
    """
    vocabulary = max(len(model.tokenizer), len(standing.counts), _embedded(model))
    read = fastest_reader(model, any_tokens=True)
    start = partial(_Counter, model, read, settings.seed, vocabulary)
    settings = replace(settings, keep_interrupted=False)
    counts = Pass(model, corpus, settings).fold(Fold(start, operator.add, Counts)).read().value
    standing_of = np.pad(standing.counts, (0, vocabulary - len(standing.counts)))
    return Frequencies(counts, standing.causal, standing_of)


def _embedded(model: Model) -> int:
    embeddings = model.network.get_input_embeddings()
    return int(embeddings.weight.shape[0])  # type: ignore[union-attr]


class _Counter:
    """Adds up the pieces that are predicted, batch by batch."""

    def __init__(self, model: Model, read: Reader, seed: int, vocabulary: int):
        self.model, self.read, self.counts = model, read, np.zeros(vocabulary, np.int64)
        self.asked, self.collate = asked_of(model, seed), collator(model)

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        asked = [self.asked(encoded) for encoded in group]
        inputs = dict(self.collate([text.encoded for text in asked]).inputs)
        ids = inputs.pop("input_ids").cpu().numpy()
        row = np.repeat(np.arange(len(asked)), [len(text.places) for text in asked])
        token, none = np.concatenate([text.places for text in asked]), np.zeros(0, int)
        with torch.inference_mode():
            for logits in self.read(PredictedPieces(ids, row, token, none, none, none, further=inputs)):
                refuse_non_finite(self.model.name, logits)
                self.counts += np.bincount(logits.argmax(-1).cpu().numpy(), minlength=len(self.counts))

    def state(self) -> Counts:
        """The counts of all batches so far."""
        return self.counts.copy()


@dataclass(frozen=True)
class Asked:
    """An input as the model reads it, and the tokens at which its prediction is read."""

    encoded: Encoded
    places: Places


def asked_of(model: Model, seed: int) -> Callable[[Encoded], Asked]:
    """A function from an input to what is asked of it: the same whatever batch it is in."""

    def behind_masks(encoded: Encoded) -> Asked:
        hidden, pieces = masked(encoded, model.tokenizer, seed)
        return Asked(hidden, np.flatnonzero(pieces != IGNORED))

    def before_tokens(encoded: Encoded) -> Asked:
        places = np.flatnonzero(maskable(encoded, model.tokenizer)[1:])
        return Asked(encoded, places[(encoded.index + seed) % EVERY :: EVERY])

    return before_tokens if is_causal(model) else behind_masks
