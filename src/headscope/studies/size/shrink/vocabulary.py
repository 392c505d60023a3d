"""Which pieces of the vocabulary the texts use, and what becomes of held-out texts without the others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.models.smaller_vocabulary import can_lose_pieces, kept_pieces, with_pieces
from headscope.studies.size.shrink.texts import encode


def pieces_to_keep(
    model: Model, inputs: Sequence[Encoded], share: float, examples: Sequence[Example] = ()
) -> tuple[int, ...] | None:
    """The pieces of some inputs, and the most frequent others up to a share of the vocabulary; None for all.

    * `examples`: those that the inputs were made of, to read them again.

    Raises `HeadscopeError` if the tokenizer with these pieces would read an input otherwise.
    """
    size = model.network.config.get_text_config().vocab_size
    if share >= 1 or not can_lose_pieces(model.tokenizer) or len(model.tokenizer) > size:
        return None
    used = {number for encoded in inputs for number in encoded.inputs["input_ids"].tolist()}
    kept = kept_pieces(model.tokenizer, used, round(share * size))
    if len(kept) >= size:
        return None
    _refuse_other_reading(model, inputs[: len(examples)], examples, kept)
    return kept


def _refuse_other_reading(
    model: Model, before: Sequence[Encoded], examples: Sequence[Example], kept: tuple[int, ...]
) -> None:
    """Raise `HeadscopeError` unless the tokenizer with the pieces `kept` reads each input and added token as now."""
    smaller = replace(model, tokenizer=with_pieces(model.tokenizer, kept, model.max_tokens))
    after = encode(smaller, examples)
    tokenizers: list[Any] = [model.tokenizer, smaller.tokenizer]
    current, added = (tokenizer.get_added_vocab() for tokenizer in tokenizers)
    places = {old: new for new, old in enumerate(kept)}
    wrong = [token for token, old in current.items() if added.get(token) != places[old]]
    for old, new in zip(_pieces(before), _pieces(after), strict=True):
        if not wrong and [places[number] for number in old] != new:
            names = (side.tokenizer.convert_ids_to_tokens(ids) for side, ids in ((model, old), (smaller, new)))
            wrong = [" ".join(map(str, tokens))[:80] for tokens in names]
    if wrong:
        raise HeadscopeError(
            f"model '{model.name}': its tokenizer with {len(kept):,} pieces would read text differently "
            f"({', '.join(wrong[:2])}); leave vocabulary out of --parts"
        )


def held_out_counts(
    model: Model, smaller: Model, before: Sequence[Encoded], after: Sequence[Encoded]
) -> dict[str, int | float]:
    """What a smaller vocabulary does to held-out texts.

    * `tokens`: of the whole vocabulary; `more_tokens`: that the smaller one needs beside them.
    * `unknown`: tokens that become unknown; `changed_texts`: the share of texts that are read in other pieces.
    """
    old, new = _pieces(before), _pieces(after)
    tokens = sum(map(len, old))
    return {
        "tokens": tokens,
        "more_tokens": sum(map(len, new)) - tokens,
        "unknown": int(_unknown(smaller, new).sum() - _unknown(model, old).sum()),
        "changed_texts": float(read_otherwise(model, smaller, before, after).mean()),
    }


def read_otherwise(
    model: Model, smaller: Model, before: Sequence[Encoded], after: Sequence[Encoded]
) -> Bool[np.ndarray, " text"]:
    """Which texts have other pieces in the smaller vocabulary."""
    return np.array(
        [
            model.tokenizer.convert_ids_to_tokens(first) != smaller.tokenizer.convert_ids_to_tokens(second)
            for first, second in zip(_pieces(before), _pieces(after), strict=True)
        ]
    )


def with_new_unknown(
    model: Model, smaller: Model, before: Sequence[Encoded], after: Sequence[Encoded]
) -> Bool[np.ndarray, " text"]:
    """Which texts have more unknown tokens in the smaller vocabulary."""
    return _unknown(smaller, _pieces(after)) > _unknown(model, _pieces(before))


def _pieces(inputs: Sequence[Encoded]) -> list[list[int]]:
    return [encoded.inputs["input_ids"].tolist() for encoded in inputs]


def _unknown(model: Model, texts: Sequence[list[int]]) -> Int[np.ndarray, " text"]:
    """The number of unknown tokens in each text."""
    unknown: Any = model.tokenizer.unk_token_id
    return np.array([ids.count(unknown) for ids in texts])
