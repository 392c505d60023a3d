"""A tokenizer with fewer pieces, which reads a text that has only these as the tokenizer with all of them does."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerBase

from headscope.capture.transformers_logging import quiet

FILE = "tokenizer.json"
# These take the longest pieces of a text, or the most probable: with fewer to choose from these stay chosen.
KINDS = ("WordPiece", "Unigram")


def can_lose_pieces(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether pieces can be removed; those of byte pair encoding cannot, since merges make one of another."""
    backend: Any = getattr(tokenizer, "backend_tokenizer", None)
    return backend is not None and json.loads(backend.to_str())["model"].get("type") in KINDS


def needed_pieces(tokenizer: PreTrainedTokenizerBase) -> set[int]:
    """The ids that always stay: special and added tokens, and pieces of one character, which spell other words."""
    names: Any = tokenizer
    specials = {*names.all_special_ids, *names.get_added_vocab().values()}
    marks = ("##", "▁")
    characters = {
        number
        for piece, number in tokenizer.get_vocab().items()
        if len(piece.removeprefix(marks[0]).removeprefix(marks[1])) <= 1
    }
    return specials | characters


def kept_pieces(tokenizer: PreTrainedTokenizerBase, used: Iterable[int], least: int = 0) -> tuple[int, ...]:
    """The ids to keep, in ascending order: those that are `used` or needed, then the lowest ones up to `least`.

    Vocabularies list frequent pieces first. Unused placeholders of BERT, such as [unused5], come last.
    """
    kept = needed_pieces(tokenizer) | set(used)
    vocabulary = tokenizer.get_vocab()
    order = sorted(vocabulary, key=lambda piece: (piece.startswith("[unused"), vocabulary[piece]))
    for piece in order:
        if len(kept) >= least:
            break
        kept.add(vocabulary[piece])
    return tuple(sorted(kept))


def with_pieces(tokenizer: PreTrainedTokenizerBase, kept: Sequence[int], max_tokens: int) -> PreTrainedTokenizerBase:
    """A copy of a tokenizer with the pieces `kept`, whose new ids are their places in this list."""
    new = {old: number for number, old in enumerate(kept)}
    with tempfile.TemporaryDirectory() as scratch, quiet():
        tokenizer.save_pretrained(scratch)
        path = Path(scratch) / FILE
        content = json.loads(path.read_text(encoding="utf-8"))
        _renumber(content, new)
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        settings = Path(scratch) / "tokenizer_config.json"
        options = json.loads(settings.read_text(encoding="utf-8"))
        added = options.get("added_tokens_decoder", {})
        options["added_tokens_decoder"] = {str(new[int(old)]): token for old, token in added.items()}
        options["model_max_length"] = max_tokens
        settings.write_text(json.dumps(options), encoding="utf-8")
        smaller = AutoTokenizer.from_pretrained(scratch, local_files_only=True)
    smaller.name_or_path = tokenizer.name_or_path
    return smaller


def _renumber(content: dict[str, Any], new: dict[int, int]) -> None:
    """Give the pieces in the content of `tokenizer.json` their new numbers, and drop those that have none."""
    model = content["model"]
    if isinstance(model["vocab"], dict):
        model["vocab"] = {piece: new[old] for piece, old in model["vocab"].items() if old in new}
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
