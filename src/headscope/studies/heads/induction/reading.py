"""Passes over made inputs and over a corpus: a row for each input; and how far layers see."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from tokenizers import Encoding
from transformers import PreTrainedConfig

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.passes.forward import observing
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult
from headscope.passes.settings import Settings
from headscope.studies.heads.induction.observer import AttentionObserver, HeadAttention, Reach, ReachObserver

LOCAL = "sliding_attention"


def without_words_head(model: Model) -> Model:
    """The model without its head: attention needs no scores of words."""
    return replace(model, network=model.network.base_model)


def farthest_seen(model: Model, input: Encoded) -> Int[np.ndarray, "layer 2"]:
    """The largest distances back and forward that any head of each layer gives attention in one input."""
    with observing(model, ReachObserver()) as observe:
        return observe([input])


def reach_of(farthest: Int[np.ndarray, "layer 2"], tokens: int) -> Reach:
    """How far each layer sees: as far as was seen in an input, infinitely where that is its whole length."""
    return np.where(farthest >= tokens - 1, np.inf, farthest)


def read_made(
    model: Model, name: str, made: tuple[Encoded, ...], relations: int, reach: Reach, settings: Settings
) -> HeadAttention:
    """The rows of made inputs, in their order."""
    words = MadeWords(model.tokenizer, model.max_tokens, made=made)
    settings = replace(settings, keep_interrupted=False)
    return HeadAttention.in_order(gathered(Pass(model, corpus_of(name, made), settings, words), relations, reach).value)


def gathered(reading: Pass, relations: int, reach: Reach) -> PassResult[list[HeadAttention]]:
    """The rows of each batch of a pass."""
    return reading.gather(AttentionObserver(relations, reach)).read()


def windows_of(config: PreTrainedConfig, layers: int) -> Float[np.ndarray, " layer"]:
    """The largest distance that each layer sees by the configuration; infinite for a layer without a window.

    A window of n tokens has a token itself and the n - 1 before it; ModernBERT's has half of n on either side.

    >>> from transformers import MistralConfig
    >>> windows_of(MistralConfig(sliding_window=8), 2).tolist()
    [7.0, 7.0]
    """
    text: Any = config.get_text_config()
    both_sides = getattr(text, "local_attention", None)
    window = both_sides or getattr(text, "sliding_window", None)
    kinds = getattr(text, "layer_types", None) or [LOCAL if getattr(text, "use_sliding_window", True) else ""] * layers
    if not window or len(kinds) != layers:
        return np.full(layers, np.inf)
    distance = both_sides // 2 if both_sides else window - 1
    return np.array([float(distance) if kind == LOCAL else np.inf for kind in kinds])


@dataclass(frozen=True)
class MadeWords(Words):
    """The encoder of a corpus of made inputs: the example with the id n is `made[n]`."""

    made: tuple[Encoded, ...] = ()

    def tokenized(self, examples: Iterable[Example]) -> Iterator[tuple[Example, list[Encoding]]]:
        """Each example, which is one input, with an encoding that says nothing."""
        for example in examples:
            yield example, [Encoding()]

    def encoded(self, index: int, example: Example, encoding: Encoding) -> Encoded:
        """The input that an example stands for."""
        return replace(self.made[int(example.id)], index=index)


def corpus_of(name: str, made: tuple[Encoded, ...]) -> Corpus:
    """The corpus whose examples stand for made inputs; its hash is that of their tokens."""
    sha256 = hashlib.sha256(b"".join(encoded.inputs["input_ids"].tobytes() for encoded in made)).hexdigest()
    examples = [Example(str(number), ()) for number in range(len(made))]
    return Corpus(name, sha256, len(made), {}, partial(iter, examples))
