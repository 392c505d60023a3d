"""Which pieces of the vocabulary the texts use, and what becomes of held-out texts without the others."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.smaller_vocabulary import can_lose_pieces, kept_pieces


def pieces_to_keep(model: Model, inputs: Sequence[Encoded], share: float) -> tuple[int, ...] | None:
    """The pieces of some inputs, and the most frequent others up to a share of the vocabulary; None for all."""
    size = model.network.config.get_text_config().vocab_size
    if share >= 1 or not can_lose_pieces(model.tokenizer) or len(model.tokenizer) > size:
        return None
    used = {number for encoded in inputs for number in encoded.inputs["input_ids"].tolist()}
    kept = kept_pieces(model.tokenizer, used, round(share * size))
    return kept if len(kept) < size else None


def held_out_counts(
    model: Model, smaller: Model, before: Sequence[Encoded], after: Sequence[Encoded]
) -> dict[str, int | float]:
    """What a smaller vocabulary does to held-out texts.

    * `tokens`: of the whole vocabulary; `more_tokens`: that the smaller one needs beside them.
    * `unknown`: tokens that become unknown; `changed_texts`: the share of texts that are read in other pieces.
    """
    old, new = ([encoded.inputs["input_ids"].tolist() for encoded in inputs] for inputs in (before, after))
    tokens = sum(map(len, old))
    changed = [
        model.tokenizer.convert_ids_to_tokens(one) != smaller.tokenizer.convert_ids_to_tokens(other)
        for one, other in zip(old, new, strict=True)
    ]
    return {
        "tokens": tokens,
        "more_tokens": sum(map(len, new)) - tokens,
        "unknown": _unknown(smaller, new) - _unknown(model, old),
        "changed_texts": float(np.mean(changed)),
    }


def _unknown(model: Model, texts: Sequence[list[int]]) -> int:
    """The number of unknown tokens in some texts."""
    unknown: Any = model.tokenizer.unk_token_id
    return sum(ids.count(unknown) for ids in texts)
