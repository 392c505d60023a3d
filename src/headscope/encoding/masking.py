"""Masking of tokens, static or new in each epoch."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int
from transformers import PreTrainedTokenizerBase

from headscope.encoding.encoded import CLASS, Encoded
from headscope.errors import HeadscopeError

# The target that cross entropy leaves out.
IGNORED = -100


@dataclass(frozen=True, kw_only=True)
class Masking:
    """Shares of tokens that are masked, and of what takes their place; by default [MASK] alone.

    * `share`: fraction of an input's tokens, special ones aside, that are chosen (Devlin et al. 2019).
    * `mask`: fraction of the chosen tokens in whose place is [MASK].
    * `random`: fraction of the chosen tokens in whose place is a random piece; the rest stay as they are.

    Raises `HeadscopeError` for a fraction out of its range.
    """

    share: float = 0.15
    mask: float = 1.0
    random: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise HeadscopeError(f"mask share {self.share} is out of range; use 0 < share < 1, e.g. 0.15")
        if min(self.mask, self.random) < 0 or self.mask + self.random > 1 + 1e-9:
            raise HeadscopeError(
                f"masks {self.mask} and random pieces {self.random} are no fractions of the chosen tokens; "
                "use two numbers from 0 with a sum of at most 1, e.g. 0.8 and 0.1"
            )


ALL_MASKED = Masking()
Numbers = Int[np.ndarray, " chosen"]
# Chooses a number of tokens among those that may be masked; tokens with the same second number share their fate.
Choose = Callable[[Encoded, Int[np.ndarray, " token"], int, np.random.Generator], tuple[Numbers, Numbers]]


def single_tokens(
    encoded: Encoded, allowed: Int[np.ndarray, " token"], number: int, random: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Any of the tokens, each by itself."""
    chosen = random.permutation(allowed)[:number]
    return chosen, np.arange(len(chosen))


def maskable(encoded: Encoded, tokenizer: PreTrainedTokenizerBase) -> Bool[np.ndarray, " token"]:
    """The tokens of an input that may be masked: all but special and unknown ones."""
    special = np.isin(encoded.token_class, [CLASS["cls"], CLASS["sep"]])
    return ~special & ~np.isin(encoded.inputs["input_ids"], tokenizer.all_special_ids)


def next_pieces(encoded: Encoded, tokenizer: PreTrainedTokenizerBase) -> Int[np.ndarray, " token"]:
    """The piece that follows each token of an input; `IGNORED` for special and unknown ones, and after the last."""
    ids, pieces = encoded.inputs["input_ids"][1:], np.full(len(encoded), IGNORED)
    pieces[:-1] = np.where(maskable(encoded, tokenizer)[1:], ids, IGNORED)
    return pieces


def masked(
    encoded: Encoded,
    tokenizer: PreTrainedTokenizerBase,
    seed: int,
    masking: Masking = ALL_MASKED,
    *,
    epoch: int = 0,
    choose: Choose = single_tokens,
) -> tuple[Encoded, Int[np.ndarray, " token"]]:
    """Mask 15% of an input's tokens: at least one, never a special one.

    The choice depends on the seed, the epoch and the input's number alone. An input of special and unknown tokens only
    stays as it is. The class of a masked token is "other": the model cannot see whether a "." or a word is under the
    mask.

    Returns: the masked input, and the piece under each chosen token, elsewhere `IGNORED`.

    Raises `HeadscopeError` if the tokenizer has no mask.
    """
    if not isinstance(tokenizer.mask_token_id, int):
        raise HeadscopeError("the model's tokenizer has no mask; name a model that was trained to tell masked words")
    ids, words = encoded.inputs["input_ids"], np.flatnonzero(maskable(encoded, tokenizer))
    random = np.random.Generator(np.random.Philox(key=[seed, encoded.index], counter=[0, 0, 0, epoch]))
    number = min(len(words), max(1, round(masking.share * len(words))))
    chosen, group = choose(encoded, words, number, random)
    hidden, pieces = behind_masks(encoded, tokenizer, chosen)
    fate, seen = random.random(len(chosen))[group], hidden.inputs["input_ids"]
    stay = chosen[fate >= masking.mask]
    seen[stay] = ids[stay]
    other = chosen[(fate >= masking.mask) & (fate < masking.mask + masking.random)]
    seen[other] = random.integers(len(tokenizer), size=len(other))
    return hidden, pieces


def behind_masks(
    encoded: Encoded, tokenizer: PreTrainedTokenizerBase, chosen: Int[np.ndarray, " chosen"]
) -> tuple[Encoded, Int[np.ndarray, " token"]]:
    """An input with some tokens masked, and the piece under each mask, elsewhere `IGNORED`."""
    ids = encoded.inputs["input_ids"]
    hidden, pieces, token_class = ids.copy(), np.full(len(ids), IGNORED), encoded.token_class.copy()
    hidden[chosen], pieces[chosen], token_class[chosen] = tokenizer.mask_token_id, ids[chosen], CLASS["other"]
    return replace(encoded, inputs=encoded.inputs | {"input_ids": hidden}, token_class=token_class), pieces
