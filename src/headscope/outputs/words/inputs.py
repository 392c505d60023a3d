"""Texts as pieces, and the inputs whose predictions score them, each once, however many texts need it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Encoding
from torch import Tensor

from headscope.corpora.suites import Candidate
from headscope.models import Model
from headscope.models.prediction_heads import is_causal
from headscope.models.segment_ids import NAME
from headscope.outputs.words.word_units import word_units


@dataclass(frozen=True, slots=True)
class ScoredPieces:
    """The pieces of a text, special ones included.

    * `places`: places of the scored pieces, in ascending order.
    * `units`: the unit of each scored piece: while a piece is predicted, later pieces of its unit are masked too.
    * `segments`: the segment id of each piece; nothing for a model that is given none.
    """

    ids: Int[np.ndarray, " token"]
    places: Int[np.ndarray, " scored"]
    units: Int[np.ndarray, " scored"]
    segments: Int[np.ndarray, " segment"] = field(default_factory=lambda: np.zeros(0, int))


def scored_pieces(model: Model, candidates: Sequence[Candidate], *, plain: bool = False) -> Iterator[ScoredPieces]:
    """The pieces of each text; if `plain`, each piece of a sentence is a unit of its own, as an answer is one.

    A causal model whose tokenizer adds no special piece at the start reads its piece for the beginning of a text
    there, if it has one; without one the first piece of a text is not scored.
    """
    texts = [candidate.text for candidate in candidates]
    start, segments = _start(model), np.zeros(0, int)
    encodings = model.tokenizer(texts, verbose=False).encodings if texts else None  # which has no answer for no text
    for candidate, encoding in zip(candidates, encodings or [], strict=True):
        positions = _places(encoding, candidate)
        if candidate.is_answer:
            units = np.zeros(len(positions), int)
        else:
            units = positions if plain else word_units(candidate.text, encoding, positions)
        ids = np.array([*start, *encoding.ids], int)
        positions = positions + len(start)
        if is_causal(model):
            units, positions = units[positions > 0], positions[positions > 0]
        if NAME in model.tokenizer.model_input_names:
            segments = np.array([*[0] * len(start), *encoding.type_ids], int)
        yield ScoredPieces(ids, positions, units, segments)


def _places(encoding: Encoding, candidate: Candidate) -> Int[np.ndarray, " scored"]:
    """Places of the pieces, special ones aside, that share a character with the scored part."""
    starts, ends = np.array(encoding.offsets, int).reshape(-1, 2).T  # [token]
    inside = (starts < candidate.end) & (ends > candidate.start) & (ends > starts)
    return np.flatnonzero(inside & (np.array(encoding.special_tokens_mask) == 0))


def _start(model: Model) -> list[int]:
    """The piece that a causal model reads before a text, where its tokenizer adds none."""
    begin = model.tokenizer.bos_token_id
    if not is_causal(model) or not isinstance(begin, int):
        return []
    adds = bool(model.tokenizer("a", verbose=False).encodings[0].special_tokens_mask[0])  # type: ignore[index]
    return [] if adds else [begin]


@dataclass(frozen=True)
class PredictedPieces:
    """Inputs of one length, and the predictions that are read off them.

    * `ids`: the inputs.
    * `row`, `token`: the input and the token of each read of the vocabulary's logits, by ascending row.
    * `read`: the number of the read of each prediction, in ascending order; `target`: the piece that is predicted;
      `text`: the number of the text that needs it.
    * `positions`, `seen`: of inputs that are prefix trees, the position of each token and the tokens that it sees.
    * `further`: other inputs of the network, such as the mask of padding, each [row, token].
    """

    ids: Int[np.ndarray, "row token"]
    row: Int[np.ndarray, " read"]
    token: Int[np.ndarray, " read"]
    read: Int[np.ndarray, " prediction"]
    target: Int[np.ndarray, " prediction"]
    text: Int[np.ndarray, " prediction"]
    positions: Int[np.ndarray, "row token"] | None = None
    seen: Bool[np.ndarray, "row token token"] | None = None
    further: Mapping[str, Tensor] = field(default_factory=dict)

    def inputs(self, device: torch.device, dtype: torch.dtype) -> dict[str, Float[Tensor, "row *token"]]:
        """Keyword arguments of a network."""
        inputs = {"input_ids": torch.from_numpy(self.ids), **self.further}
        inputs = {name: rows.to(device) for name, rows in inputs.items()}
        if self.positions is None or self.seen is None:
            return inputs
        hidden = torch.from_numpy(~self.seen)[:, None].to(device)  # [row, 1, token, token]
        mask = torch.zeros(hidden.shape, dtype=dtype, device=device).masked_fill_(hidden, torch.finfo(dtype).min)
        return inputs | {"position_ids": torch.from_numpy(self.positions).to(device), "attention_mask": mask}

    def batches(self, batch_tokens: int) -> Iterator["PredictedPieces"]:
        """Parts of at most `batch_tokens` tokens, or of one input; rows and reads count from 0 in each."""
        size = max(1, batch_tokens // max(1, self.ids.shape[1]))
        for first in range(0, len(self.ids), size):
            rows, part = slice(first, first + size), self.reads(*np.searchsorted(self.row, [first, first + size]))
            yield replace(
                part,
                ids=self.ids[rows],
                row=part.row - first,
                positions=None if self.positions is None else self.positions[rows],
                seen=None if self.seen is None else self.seen[rows],
                further={name: values[rows] for name, values in self.further.items()},
            )

    def reads(self, start: int, end: int) -> "PredictedPieces":
        """The inputs with the reads from `start` up to `end` alone; reads count from 0."""
        reads, predictions = slice(start, end), slice(*np.searchsorted(self.read, [start, end]))
        return replace(
            self,
            row=self.row[reads],
            token=self.token[reads],
            read=self.read[predictions] - start,
            target=self.target[predictions],
            text=self.text[predictions],
        )


def causal_predictions(texts: Sequence[ScoredPieces]) -> Iterator[PredictedPieces]:
    """Texts up to the piece before their last scored one; each piece is predicted at the one before it."""
    for numbers in _by_length(int(text.places[-1]) if len(text.places) else 0 for text in texts):
        chosen = [texts[number] for number in numbers]
        read = np.stack([text.ids[: text.places[-1]] for text in chosen])
        ids, first, row = np.unique(read, axis=0, return_index=True, return_inverse=True)
        counts = [len(text.places) for text in chosen]
        positions = np.concatenate([text.places - 1 for text in chosen])
        reads = np.stack([np.repeat(row.reshape(-1), counts), positions], axis=1)
        pieces = predicted_pieces(ids, reads, chosen, np.repeat(numbers, counts))
        yield replace(pieces, further=_segments([chosen[index] for index in first], ids.shape[1]))


def masked_predictions(texts: Sequence[ScoredPieces], mask: int) -> Iterator[PredictedPieces]:
    """Copies of the texts, one for each scored piece, in which it and later pieces of its unit are masked.

    Equal copies are one input: two texts that differ in one piece share the copy in which it is masked.
    """
    for numbers in _by_length(len(text.ids) if len(text.places) else 0 for text in texts):
        chosen = [texts[number] for number in numbers]
        positions = np.concatenate([text.places for text in chosen])
        copies = np.concatenate([_copies(text, mask) for text in chosen])
        read = np.concatenate([copies, positions[:, None]], axis=1)
        ids, first, row = np.unique(read, axis=0, return_index=True, return_inverse=True)
        reads = np.stack([row.reshape(-1), positions], axis=1)
        owners = np.repeat(numbers, [len(text.places) for text in chosen])
        pieces = predicted_pieces(ids[:, :-1], reads, chosen, owners)
        yield replace(pieces, further=_segments([texts[number] for number in owners[first].tolist()], ids.shape[1] - 1))


def _segments(texts: Sequence[ScoredPieces], tokens: int) -> dict[str, Tensor]:
    """The segment ids of the first tokens of each text, this many; nothing where the model is given none."""
    if not all(len(text.segments) for text in texts):
        return {}
    return {NAME: torch.from_numpy(np.stack([text.segments[:tokens] for text in texts]))}


def _by_length(lengths: Iterable[int]) -> list[list[int]]:
    """The numbers of the texts of each length; those of length 0 are left out."""
    groups: dict[int, list[int]] = {}
    for number, length in enumerate(lengths):
        if length:
            groups.setdefault(length, []).append(number)
    return list(groups.values())


def _copies(text: ScoredPieces, mask: int) -> Int[np.ndarray, "scored token"]:
    """The text with each scored piece, and later ones of its unit, masked in turn."""
    positions, units = text.places, text.units
    later = (units[:, None] == units) & (positions >= positions[:, None])
    copies = np.tile(text.ids, (len(positions), 1))
    copies[:, positions] = np.where(later, mask, text.ids[positions])
    return copies


def predicted_pieces(
    ids: Int[np.ndarray, "row token"],
    reads: Int[np.ndarray, "prediction 2"],
    texts: Sequence[ScoredPieces],
    owners: Int[np.ndarray, " prediction"],
) -> PredictedPieces:
    """PredictedPieces of the scored pieces of texts, from the row and place at which each is read."""
    unique, read = np.unique(reads, axis=0, return_inverse=True)
    target = np.concatenate([text.ids[text.places] for text in texts])
    order = np.argsort(read.reshape(-1), kind="stable")
    return PredictedPieces(ids, unique[:, 0], unique[:, 1], read.reshape(-1)[order], target[order], owners[order])
