"""A tokenizer with fewer pieces, which reads a text that has only these as the tokenizer with all of them does."""

import json
import re
import tempfile
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from headscope.capture.transformers_logging import quiet
from headscope.models.saved_tokenizer import FILE, SETTINGS, as_saved, read_stored

# These take the longest pieces of a text, the most probable, or those of the first merges: with fewer to choose from
# these stay chosen.
KINDS = ("WordPiece", "Unigram", "BPE")
# A byte that no piece has, in vocabularies of SentencePiece.
BYTE = re.compile(r"<0x[0-9A-Fa-f]{2}>")
Pair = tuple[str, str]


@dataclass(frozen=True)
class Merges:
    """Merges of two pieces to one (byte pair encoding, Sennrich et al. 2016); that of the lowest rank goes first.

    * `prefix`: marks pieces within a word, and is not doubled by a merge; `suffix`: marks the last piece of a word.

    >>> merges = Merges({("l", "o"): 0, ("lo", "w"): 1}, "", "")
    >>> sorted(merges.made_of("low")), merges.among({"l", "o", "lo"})
    (['l', 'lo', 'low', 'o', 'w'], [('l', 'o')])
    """

    ranks: dict[Pair, int]
    prefix: str
    suffix: str

    def joined(self, pair: Pair) -> str:
        """The piece that a merge makes."""
        return pair[0] + pair[1][len(self.prefix) :]

    def among(self, pieces: Container[str]) -> list[Pair]:
        """The merges, in order, whose result and both parts are among some pieces."""
        ordered = sorted(self.ranks, key=self.ranks.__getitem__)
        return [pair for pair in ordered if all(piece in pieces for piece in (*pair, self.joined(pair)))]

    def made_of(self, piece: str) -> set[str]:
        """All pieces that stand on the way from the characters of a piece to the piece, which is among them.

        Where a text has the piece, no merge has crossed its ends: so it was made as from its characters alone.
        """
        parts = self._characters(piece)
        seen = {piece, *parts}
        while pairs := [pair for pair in pairwise(parts) if pair in self.ranks]:
            parts = self._merged(parts, min(pairs, key=self.ranks.__getitem__))
            seen.update(parts)
        return seen

    def _merged(self, parts: Sequence[str], pair: Pair) -> list[str]:
        """The parts after the leftmost pair of this kind is one."""
        first = next(index for index in range(len(parts) - 1) if (parts[index], parts[index + 1]) == pair)
        return [*parts[:first], self.joined(pair), *parts[first + 2 :]]

    def _characters(self, piece: str) -> list[str]:
        inner = piece.removeprefix(self.prefix).removesuffix(self.suffix)
        characters = [f"{self.prefix}{character}" for character in inner] or [piece]
        if not piece.startswith(self.prefix):
            characters[0] = characters[0].removeprefix(self.prefix)
        if self.suffix and piece.endswith(self.suffix):
            characters[-1] = f"{characters[-1].removesuffix(self.suffix)}{self.suffix}"
        return characters


def merges_of(model: dict[str, Any]) -> Merges:
    """The merges of the model of a `tokenizer.json`, which writes a pair as a list or in one text."""
    pairs = [tuple(merge.split(" ") if isinstance(merge, str) else merge) for merge in model["merges"]]
    marks = (model.get(name) or "" for name in ("continuing_subword_prefix", "end_of_word_suffix"))
    return Merges({(first, second): rank for rank, (first, second) in enumerate(pairs)}, *marks)


def with_parts(merges: Merges | None, pieces: Iterable[str]) -> set[str]:
    """Some pieces and those that they are made of; without merges the pieces alone."""
    return {part for piece in pieces for part in (merges.made_of(piece) if merges else (piece,))}


def can_lose_pieces(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether pieces can be removed."""
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    return backend is not None and type(backend.model).__name__ in KINDS


def needed_pieces(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """The ids that always stay: special and added tokens, and characters and bytes, which spell other words.

    Of probable pieces that of the lowest score stays, too: by it unknown characters are scored.
    """
    names: Any = tokenizer
    model, vocabulary = _model(tokenizer), tokenizer.get_vocab()
    suffix = model.get("end_of_word_suffix") or ""
    characters = {number for piece, number in vocabulary.items() if BYTE.fullmatch(piece) or _short(piece, suffix)}
    scored = dict(model["vocab"]) if model.get("type") == "Unigram" else {}
    others = [model.get("unk_token"), min(scored, key=scored.__getitem__, default=None)]
    needed = {vocabulary[piece] for piece in others if piece in vocabulary}
    return characters | needed | {*names.all_special_ids, *names.get_added_vocab().values()}


def _short(piece: str, suffix: str) -> bool:
    """Whether a piece is one character, beside the marks of words."""
    return len(piece.removeprefix("##").removeprefix("▁").removesuffix(suffix)) <= 1


def kept_pieces(tokenizer: PreTrainedTokenizerBase, used: Iterable[int], least: int = 0) -> tuple[int, ...]:
    """The ids to keep, in ascending order: those that are `used` or needed, then the lowest ones up to `least`.

    Vocabularies list frequent pieces first. Unused placeholders of BERT, such as [unused5], come last. In byte pair
    encoding the pieces that a kept one is made of are kept, too.
    """
    merges, vocabulary = _merges(tokenizer), tokenizer.get_vocab()
    names = {number: piece for piece, number in vocabulary.items()}

    def made_of(pieces: Iterable[str]) -> set[int]:
        return {vocabulary[piece] for piece in with_parts(merges, pieces) if piece in vocabulary}

    needed, used = needed_pieces(tokenizer), set(used)
    kept = needed | used | made_of(names[number] for number in used - needed if number in names)
    for piece in sorted(vocabulary, key=lambda piece: (piece.startswith("[unused"), vocabulary[piece])):
        if len(kept) >= least:
            break
        if vocabulary[piece] not in kept:
            kept |= made_of([piece])
    return tuple(sorted(kept))


def _model(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """The model of `tokenizer.json`; nothing for a tokenizer that is not written so."""
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    return {} if backend is None else json.loads(backend.to_str())["model"]


def _merges(tokenizer: PreTrainedTokenizerBase) -> Merges | None:
    model = _model(tokenizer)
    return merges_of(model) if model.get("type") == "BPE" else None


def with_pieces(tokenizer: PreTrainedTokenizerBase, kept: Sequence[int], max_tokens: int) -> PreTrainedTokenizerBase:
    """A copy of a tokenizer with the pieces `kept`, whose new ids are their places in this list."""
    new = {old: number for number, old in enumerate(kept)}
    with tempfile.TemporaryDirectory() as scratch, quiet():
        tokenizer.save_pretrained(scratch)
        path = Path(scratch) / FILE
        content = json.loads(path.read_text(encoding="utf-8"))
        _renumber(content, new)
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        settings = Path(scratch) / SETTINGS
        options = json.loads(settings.read_text(encoding="utf-8"))
        if added := options.get("added_tokens_decoder"):  # an empty one would hide those of tokenizer.json
            options["added_tokens_decoder"] = {str(new[int(old)]): token for old, token in added.items()}
        options["model_max_length"] = max_tokens
        settings.write_text(json.dumps(options), encoding="utf-8")
        smaller = as_saved(
            AutoTokenizer.from_pretrained(scratch, local_files_only=True), Path(scratch), read_stored(Path(scratch))
        )
    smaller.name_or_path = tokenizer.name_or_path
    return smaller


def _renumber(content: dict[str, Any], new: dict[int, int]) -> None:
    """Give the pieces in the content of `tokenizer.json` their new numbers, and drop those that have none."""
    model = content["model"]
    if isinstance(model["vocab"], dict):
        merges = merges_of(model) if model["type"] == "BPE" else None
        model["vocab"] = {piece: new[old] for piece, old in model["vocab"].items() if old in new}
        if merges is not None:
            model["merges"] = merges.among(model["vocab"])
    else:
        model["vocab"] = [entry for old, entry in enumerate(model["vocab"]) if old in new]
        model["unk_id"] = new.get(model.get("unk_id"))
    content["added_tokens"] = [token | {"id": new[token["id"]]} for token in content["added_tokens"]]
    padding = content.get("padding")
    if padding:
        padding["pad_id"] = new[padding["pad_id"]]
    for step in _processors(content.get("post_processor")):
        for token in (step.get("special_tokens") or {}).values():
            token["ids"] = [new[old] for old in token["ids"]]
        for name in ("sep", "cls"):
            if isinstance(step.get(name), list):
                step[name] = [step[name][0], new[step[name][1]]]


def _processors(processor: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [processor, *processor.get("processors", ())] if processor else []
