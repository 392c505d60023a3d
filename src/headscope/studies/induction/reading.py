"""Passes over made inputs and over a corpus: how far layers see, and a row for each input."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.forward import observing
from headscope.passes.passes import Pass, PassResult
from headscope.passes.settings import Settings
from headscope.studies.induction.made_words import MadeWords, corpus_of
from headscope.studies.induction.observer import AttentionObserver, HeadAttention, Reach, ReachObserver


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
    return joined(gathered(Pass(model, corpus_of(name, made), settings, words), relations, reach).value)


def gathered(reading: Pass, relations: int, reach: Reach) -> PassResult[list[HeadAttention]]:
    """The rows of each batch of a pass."""
    return reading.gather(AttentionObserver(relations, reach))


def joined(parts: Sequence[HeadAttention]) -> HeadAttention:
    """The rows of several batches, in the order of the corpus."""
    rows = HeadAttention.concatenate(parts)
    return rows[np.argsort(rows.input, kind="stable")]
