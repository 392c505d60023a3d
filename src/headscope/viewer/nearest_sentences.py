"""The sentences of a corpus that a model places nearest to a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.corpora import Corpus
from headscope.encoding.batch import Batch
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, segment_text
from headscope.models import Model
from headscope.models.sentence_modules import sentence_modules
from headscope.passes.batches import batches
from headscope.passes.settings import DEFAULTS

# The first sentences of a corpus stand for it: their number, their longest input in tokens and their letters shown.
SENTENCES, TOKENS, LETTERS = 1000, 128, 200


@dataclass(frozen=True)
class SentenceVectors:
    """Sentences and their unit vectors."""

    texts: tuple[str, ...]
    vectors: Float[np.ndarray, "sentence width"]

    def nearest(self, vector: Float[np.ndarray, " width"], number: int) -> list[tuple[str, float]]:
        """The sentences with the highest cosine to a vector, and the cosine.

        >>> vectors = SentenceVectors(("It rained.", "We slept."), np.eye(2))
        >>> vectors.nearest(np.array([0.8, 0.6]), 1)
        [('It rained.', 0.8)]
        """
        cosines = self.vectors @ vector
        best = np.argsort(-cosines, kind="stable")[:number].tolist()
        return [(self.texts[index], float(cosines[index])) for index in best]


def first_inputs(model: Model, corpus: Corpus) -> list[Encoded]:
    """The first sentences of a corpus as inputs of a model, cut at 128 tokens. Raises `HeadscopeError` if none fits."""
    words = Words(model.tokenizer, min(TOKENS, model.max_tokens), "truncate", aligned=True)
    if inputs := list(words.encode(islice(corpus, SENTENCES))):
        return inputs
    raise HeadscopeError(
        f"corpus '{corpus.name}' has no sentence that fits into {words.max_tokens} tokens; use another"
    )


def sentence_vectors(model: Model, inputs: Sequence[Encoded]) -> SentenceVectors:
    """The vectors of inputs, by forward passes with all heads."""
    texts: dict[int, str] = {}
    vectors: dict[int, np.ndarray] = {}
    with torch.inference_mode():
        for batch in batches(model, inputs, DEFAULTS):
            index = batch.index.tolist()
            texts |= zip(index, map(_text, batch.examples), strict=True)
            vectors |= zip(index, mean_states(model, batch), strict=True)
    order = sorted(texts)
    return SentenceVectors(tuple(texts[index] for index in order), np.stack([vectors[index] for index in order]))


def mean_states(model: Model, batch: Batch) -> Float[np.ndarray, "example width"]:
    """The embedding of each example, as a unit vector: the mean of its last hidden states, or see `sentence_modules`.

    Raises `HeadscopeError` if it is not finite.
    """
    means = sentence_modules(model.network)(_last_states(model, batch), batch.real)
    if not torch.isfinite(means).all():
        raise HeadscopeError(f"model '{model.name}' gives outputs that are not finite; use --dtype float32")
    return torch.nn.functional.normalize(means, dim=1).cpu().numpy()


def _last_states(model: Model, batch: Batch) -> Float[Tensor, "example token width"]:
    """The last hidden states, below the task head if there is one."""
    outputs: list[Tensor] = []
    hook = model.network.base_model.register_forward_hook(lambda module, args, output: outputs.append(output[0]))
    try:
        model.network(**batch.inputs)
    finally:
        hook.remove()
    return outputs[0]


def _text(example: Example) -> str:
    text = " / ".join(segment_text(segment) for segment in example.segments)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"
