"""Load a model's tokenizer and check that it fits the model."""

import copy
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from headscope.capture.transformers_logging import quiet, refusing
from headscope.errors import HeadscopeError
from headscope.models.checkpoint import Checkpoint, has_tokenizer
from headscope.models.config import load_config
from headscope.models.fast_tokenizer import fast
from headscope.models.saved_tokenizer import as_saved, read_stored, steps
from headscope.storage.limits import MOST_GROWTH

# Embeddings are padded for speed, and a few pieces are added late. A larger difference means the tokenizer of another
# model, or an empty one that transformers builds without a vocabulary.
LEAST_SHARE, MOST_SHARE = 0.5, 1.1
SAVE = "save the model's own tokenizer into the folder"
RESIZE = "give its own tokenizer, or rows to all pieces: network.resize_token_embeddings(len(tokenizer))"
# The most characters that other steps make of one: the longest of Unicode's forms, bytes in UTF-8, blanks around it.
FACTORS = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18, "Precompiled": 18, "Lowercase": 2, "ByteLevel": 4,
           "BertNormalizer": 4}  # fmt: skip


def load_tokenizer(checkpoint: Checkpoint, *, remote_code: bool = False) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a model, as it was saved (see `saved_tokenizer`).

    Raises `HeadscopeError` if it cannot be loaded, gives no character offsets, has a vocabulary of another size than
    the model's, a token id beyond the model's embedding, or makes texts far longer.
    """
    name, folder = checkpoint.name, checkpoint.tokenizer_folder
    stored = read_stored(folder)
    refuse_growth(stored, name)
    config = load_config(checkpoint, remote_code=remote_code)
    with quiet(), refusing(f"model '{name}': its tokenizer cannot be loaded", "save it again with save_pretrained"):
        file = {"gguf_file": checkpoint.file.name} if checkpoint.file and not has_tokenizer(folder) else {}
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=config, local_files_only=True, trust_remote_code=remote_code, **file
        )
        tokenizer = as_saved(tokenizer, folder, stored)
    tokenizer = fast(name, tokenizer)
    if type(tokenizer).save_vocabulary is PreTrainedTokenizerFast.save_vocabulary:  # Whisper's writes them again
        for attribute in ("_vocab", "_merges"):  # what the tokenizer was made of: 150 MB of Gemma 3's
            vars(tokenizer).pop(attribute, None)
    if not isinstance(tokenizer.model_max_length, int | float):
        raise HeadscopeError(
            f"model '{name}': model_max_length of its tokenizer is {str(tokenizer.model_max_length)[:40]!r}, not a "
            "number; correct it in tokenizer_config.json"
        )
    size = getattr(config.get_text_config(), "vocab_size", None)
    if size and not LEAST_SHARE * size <= len(tokenizer) <= MOST_SHARE * size:
        raise HeadscopeError(
            f"model '{name}': its tokenizer has {len(tokenizer)} pieces, the model {size}; "
            "save the model's own tokenizer, whole, into the folder"
        )
    return within(tokenizer, size, name)


def within(
    tokenizer: PreTrainedTokenizerBase, size: int | None, name: str, *, remedy: str = SAVE
) -> PreTrainedTokenizerBase:
    """The tokenizer, whose ids are below the size of an embedding, except special tokens that it never adds itself.

    A mask token beyond it is left out: transformers adds one to a vocabulary that has none.

    Raises `HeadscopeError` if it reads no text, or another id is beyond.
    """
    if size and isinstance(tokenizer.mask_token_id, int) and tokenizer.mask_token_id >= size:
        tokenizer = _without_mask(tokenizer)
    with refusing(f"model '{name}': its tokenizer reads no text", "save it again with save_pretrained"):
        single, pair = tokenizer("a", verbose=False), tokenizer("a", "b", verbose=False)
    pad: Any = tokenizer.pad_token_id
    added = {*single["input_ids"], *pair["input_ids"], pad} - {None}
    special = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    largest = max(({*tokenizer.get_vocab().values()} - special) | added)
    if size and largest >= size:
        raise HeadscopeError(
            f"model '{name}': its tokenizer has the token id {largest}, the embedding ends at {size - 1}; {remedy}"
        )
    return tokenizer


def refuse_beyond(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Let a network refuse, with `HeadscopeError`, a special token beyond its embedding, where a text has one.

    Gemma 3 has one for pictures.
    """
    rows, added = rows_of(network), tokenizer.added_tokens_decoder.items()
    if rows and (beyond := {number: token.content for number, token in added if number >= rows}):
        network.get_input_embeddings().register_forward_pre_hook(partial(_refuse, beyond, name))


def rows_of(network: PreTrainedModel) -> int | None:
    """The rows of the embedding of a network; None where these are not known."""
    return getattr(network.get_input_embeddings(), "num_embeddings", None)


def _refuse(beyond: Mapping[int, str], name: str, table: Any, inputs: tuple[Any, ...]) -> None:
    if inputs and not torch.compiler.is_exporting() and (token := beyond.get(int(inputs[0].max()))):
        raise HeadscopeError(f"a text holds {token}, which model '{name}' has no embedding of; remove it from the text")


def _without_mask(tokenizer: Any) -> PreTrainedTokenizerBase:
    without, mask = copy.deepcopy(tokenizer), tokenizer.mask_token
    stored = json.loads(tokenizer.backend_tokenizer.to_str())
    stored["added_tokens"] = [token for token in stored["added_tokens"] if token["content"] != mask]
    without._tokenizer, without.mask_token, without.late_mask = Tokenizer.from_str(json.dumps(stored)), None, mask
    return without


def mask_notes(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """A note if the vocabulary has no mask token although the class of the tokenizer has one."""
    mask = getattr(tokenizer, "late_mask", None)
    return (f"its vocabulary has no {mask}, which is no token here: no word can be masked",) if mask else ()


def piece_counts(tokenizer: PreTrainedTokenizerBase, texts: list[str]) -> list[int]:
    """The number of tokens of each text, without special tokens."""
    return list(map(len, tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]))


def refuse_growth(stored: Mapping[str, Mapping[str, Any]], name: str) -> None:
    """Raise `HeadscopeError` if a tokenizer can make a text more than `MOST_GROWTH` times as long.

    * `stored`: its files, as of `read_stored`.
    """
    for file, content in stored.items():
        parts = [content.get(part) for part in ("normalizer", "pre_tokenizer")]
        if growth([step for part in parts for step in steps(part)]) > MOST_GROWTH:
            raise HeadscopeError(
                f"model '{name}': the normalizer of {file} makes a text more than {MOST_GROWTH:,} times as long; "
                "save the model's own tokenizer into the folder"
            )


def growth(steps: list[Mapping[str, Any]]) -> float:
    """A bound of how many times longer the steps make a text; infinite above `MOST_GROWTH`.

    Each character weighs what it can become in the steps that follow, so the last step comes first. A text for which a
    step puts another one weighs as much as that; a pattern may match any character, or be put between all of them.

    >>> doubled = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    >>> growth([doubled] * 3), growth([doubled, {"type": "NFC"}]), growth([doubled] * 24)
    (8.0, 6.0, inf)
    """
    lengths: dict[str, float] = {}
    scale, shift, largest = 1.0, 0.0, 1.0

    def weight(text: str) -> float:
        return sum(scale * lengths.get(character, 1.0) + shift for character in text)

    for step in reversed(steps):
        factor = FACTORS.get(str(step.get("type")), 1)
        scale, shift, largest = scale * factor, shift * factor, largest * factor
        if step.get("type") == "Replace":
            old, new = _replaced(step)
            if old:
                times = max(1.0, weight(new) / weight(old))
                lengths |= {character: (weight(character) * times - shift) / scale for character in old}
                largest = max(largest, *map(weight, old))
            else:
                shift, largest = shift + weight(new), largest + weight(new)
        if largest > MOST_GROWTH:
            return float("inf")
    return largest


def _replaced(step: Mapping[str, Any]) -> tuple[str, str]:
    """The text that a step replaces, "" for a pattern, and the one that it puts in its place."""
    pattern, content = step.get("pattern"), step.get("content")
    old = pattern.get("String") if isinstance(pattern, dict) else None
    return old if isinstance(old, str) else "", content if isinstance(content, str) else ""
