"""Passes over made inputs and over a corpus: a row for each input; and how far layers see."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding

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
