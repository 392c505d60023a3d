"""Mentions, cases and answers made by hand, and what a reader answers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Mention, Question, Sentence
from headscope.studies.heads.coreference.cases import Case, Headed
from headscope.studies.heads.coreference.observer import MentionObserver
from headscope.studies.heads.coreference.scores import AntecedentPredictions
from support.made_inputs import shown_maps, spaced


def said(text: str, *mentions: tuple[str, int, int], upos: str = "", heads: Sequence[int] = (), **fields) -> Sentence:
    """A sentence whose words stand between blanks, with mentions (entity, start, end)."""
    found = tuple(Mention(*mention) for mention in mentions)
    return spaced(text, upos=tuple(upos.split()), heads=tuple(heads), mentions=found, **fields)


def headed(
    word: int, entity: str = "e1", start: int | None = None, forms: str = "cat", kind: str = "nominal"
) -> Headed:
    """A mention that ends with its head."""
    words = tuple(forms.split())
    start = word + 1 - len(words) if start is None else start
    return Headed(word, start, start + len(words), entity, kind, words)


def case(mention: Headed, *candidates: Headed, unit: int = 0, question: Question | None = None) -> Case:
    """A case whose right candidates are those of the same entity."""
    right = frozenset(candidate.word for candidate in candidates if candidate.entity == mention.entity)
    return Case(mention, candidates, right, unit, question)


def answered(
    reader: MentionObserver, layers: Sequence[list[Tensor]], inputs: list[Encoded], block: int = 10**6
) -> AntecedentPredictions:
    """What a reader answers when it is shown the maps of each layer, so many queries at a time."""
    return shown_maps(reader, layers, inputs, block)


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
        "position": np.zeros(number, dtype=int),
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
        "sink": np.zeros((number, right.shape[1])),
        "sink_others": np.ones((number, right.shape[1])),
        "confusion": np.zeros((number, 0)),
        "condition": np.array([""] * number),
        "candidates": np.full(number, 2),
    }
    return AntecedentPredictions(**(columns | {name: np.array(values) for name, values in fields.items()}))
