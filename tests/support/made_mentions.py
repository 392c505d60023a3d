"""Mentions, cases and answers made by hand, and what a reader answers."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.linguistics.sentence import Example, Mention, Question, Sentence
from headscope.passes.batches import collate
from headscope.studies.coreference.cases import Case, Headed
from headscope.studies.coreference.observer import MentionObserver
from headscope.studies.coreference.scores import AntecedentPredictions
from headscope.testing.hand_made import padded
from support.tiny import tiny_tokenizer


def said(text: str, *mentions: tuple[str, int, int], upos: str = "", heads: Sequence[int] = (), **fields) -> Sentence:
    """A sentence whose words stand between blanks, with mentions (entity, start, end)."""
    ends = np.cumsum([len(word) + 1 for word in text.split()]).tolist()
    words = tuple((end - len(word) - 1, end - 1) for end, word in zip(ends, text.split(), strict=True))
    found = tuple(Mention(*mention) for mention in mentions)
    return Sentence(text, words, tuple(upos.split()), tuple(heads), mentions=found, **fields)


def headed(
    word: int, entity: str = "e1", start: int | None = None, forms: str = "cat", kind: str = "nominal"
) -> Headed:
    """A mention that ends with its head."""
    words = tuple(forms.split())
    start = word + 1 - len(words) if start is None else start
    return Headed(word, start, start + len(words), entity, kind, words)


def case(mention: Headed, *candidates: Headed, unit: int = 0, question: Question | None = None) -> Case:
    """A case whose right candidates are those of the same entity."""
    right = frozenset(each.word for each in candidates if each.entity == mention.entity)
    return Case(mention, candidates, right, unit, question)


def corpus_of(*examples: Example) -> Corpus:
    return Corpus("made", "0" * 64, len(examples), {}, partial(iter, examples))


def inputs_of(*made: Example) -> list[Encoded]:
    return list(Words(tiny_tokenizer(), 64, aligned=True).encode(made))


def answered(
    reader: MentionObserver, layers: Sequence[list[Tensor]], inputs: list[Encoded], block: int = 10**6
) -> AntecedentPredictions:
    """What a reader answers when it is shown the maps of each layer, so many queries at a time."""
    reader.start(collate(inputs, pad=0, class_exists=[True] * 4, device=torch.device("cpu")))
    for layer, maps in enumerate(layers):
        whole = padded(maps)
        for first in range(0, whole.shape[2], block):
            queries = slice(first, min(first + block, whole.shape[2]))
            reader(layer, whole[:, :, queries], slice(0, len(inputs)), queries)
    return reader.finish()


def rows(
    units: ArrayLike,
    right: np.ndarray,
    guesses: np.ndarray | None = None,
    kinds: Sequence[str] | None = None,
    **fields: ArrayLike,
) -> AntecedentPredictions:
    """Predictions from their columns; what is not given is the same in all of them."""
    number = len(right)
    columns = {
        "unit": np.array(units),
        "input": np.arange(number),
        "place": np.zeros(number, dtype=int),
        "kind": np.array(kinds or ["pronoun"] * number),
        "gender": np.array([""] * number),
        "question": np.zeros(number, bool),
        "answerable": np.ones(number, bool),
        "first": np.zeros(number, bool),
        "stereotype": np.array([""] * number),
        "pair": np.array([""] * number),
        "guesses": np.zeros((number, 4)) if guesses is None else guesses,
        "right": np.packbits(right.astype(bool), axis=1),
        "toward": np.zeros((number, 0)),
    }
    return AntecedentPredictions(**(columns | {name: np.array(values) for name, values in fields.items()}))
