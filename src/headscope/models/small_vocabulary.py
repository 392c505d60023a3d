"""A tokenizer whose vocabulary is cut to the pieces that some texts have: small models need no rows for the others."""

import copy
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Int
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

CUT = "WordPiece"
CONTINUED = "##"


def with_pieces(
    tokenizer: PreTrainedTokenizerBase, pieces: Iterable[int]
) -> tuple[PreTrainedTokenizerBase, Int[np.ndarray, " piece"]]:
    """A tokenizer with some pieces, all special tokens and all single characters; and its number for each old piece.

    It cuts the texts of these pieces as before: the longest piece that begins a word is the same. Only a vocabulary of
    WordPiece is cut, another one stays: its pieces are merged or weighed, and each may change the others. The number of
    a piece that is left out is that of the unknown token.
    """
    backend: Any = tokenizer.backend_tokenizer
    stored: dict[str, Any] = json.loads(backend.to_str())
    model = stored["model"]
    if model.get("type") != CUT or tokenizer.unk_token_id is None:
        return tokenizer, np.arange(len(tokenizer))
    wanted = {*pieces, *tokenizer.all_special_ids}
    old = sorted(model["vocab"].items(), key=lambda pair: pair[1])
    kept = [pair for pair in old if pair[1] in wanted or len(pair[0].removeprefix(CONTINUED)) == 1]
    model["vocab"] = new = {piece: number for number, (piece, _) in enumerate(kept)}
    stored["added_tokens"] = [
        token | {"id": new[token["content"]]} for token in stored["added_tokens"] if token["content"] in new
    ]
    _renumber(stored.get("post_processor") or {}, new)
    cut: Any = copy.deepcopy(tokenizer)
    cut._tokenizer = Tokenizer.from_str(json.dumps(stored))
    numbers = np.full(len(tokenizer), new[str(tokenizer.unk_token)])
    numbers[[number for _, number in kept]] = np.arange(len(kept))
    return cut, numbers


def _renumber(processor: dict[str, Any], new: dict[str, int]) -> None:
    """Give a step that adds special tokens their new numbers."""
    for name in ("sep", "cls"):  # of BERT's own step
        if name in processor:
            processor[name] = [processor[name][0], new[processor[name][0]]]
    for added in (processor.get("special_tokens") or {}).values():  # of a template
        added["ids"] = [new[token] for token in added["tokens"]]
    for step in processor.get("processors", []):
        _renumber(step, new)
