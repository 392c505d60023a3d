"""Texts as pieces, and which of them are scored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding

from headscope.corpora.suites import Candidate
from headscope.models import Model
from headscope.models.words_head import is_causal


@dataclass(frozen=True, slots=True)
class ScoredPieces:
    """The pieces of a text, special ones included.

    * `places`: places of the scored pieces, in ascending order.
    * `units`: the unit of each scored piece: while a piece is predicted, later pieces of its unit are masked too.
    """

    ids: Int[np.ndarray, " token"]
    places: Int[np.ndarray, " scored"]
    units: Int[np.ndarray, " scored"]


def scored_pieces(model: Model, candidates: Sequence[Candidate], *, plain: bool = False) -> Iterator[ScoredPieces]:
    """The pieces of each text.

    A causal model whose tokenizer adds no special piece at the start reads its piece for the beginning of a text
    there, if it has one; without one the first piece of a text is not scored.

    * `plain`: each piece of a sentence is a unit of its own; an answer is one unit in any case.
    """
    texts = [candidate.text for candidate in candidates]
    start = _start(model)
    encodings = model.tokenizer(texts, verbose=False).encodings if texts else None  # which has no answer for no text
    for candidate, encoding in zip(candidates, encodings or [], strict=True):
        places = _places(encoding, candidate)
        if candidate.is_answer:
            units = np.zeros(len(places), int)
        else:
            words = encoding.word_ids
            units = places if plain else np.array([words[place] for place in places], int)
        ids = np.array([*start, *encoding.ids], int)
        places = places + len(start)
        if is_causal(model.network):
            units, places = units[places > 0], places[places > 0]
        yield ScoredPieces(ids, places, units)


def _places(encoding: Encoding, candidate: Candidate) -> Int[np.ndarray, " scored"]:
    """Places of the pieces, special ones aside, that share a character with the scored part."""
    starts, ends = np.array(encoding.offsets, int).reshape(-1, 2).T  # [token]
    inside = (starts < candidate.end) & (ends > candidate.start) & (ends > starts)
    return np.flatnonzero(inside & (np.array(encoding.special_tokens_mask) == 0))


def _start(model: Model) -> list[int]:
    """The piece that a causal model reads before a text, where its tokenizer adds none."""
    begin = model.tokenizer.bos_token_id
    if not is_causal(model.network) or not isinstance(begin, int):
        return []
    adds = bool(model.tokenizer("a", verbose=False).encodings[0].special_tokens_mask[0])  # type: ignore[index]
    return [] if adds else [begin]
