"""Counts of the inputs and tokens of a pass, the values of uniform attention over them, and unknown tokens."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import lgamma

import numpy as np
import xarray as xr
from jaxtyping import Float
from transformers import PreTrainedTokenizerBase

from headscope.common_numbers import COVERAGE
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.results.variables import Variables
from headscope.results.vocabulary import TOKEN_CLASSES
from headscope.study import by_name

# Shares of unknown tokens among those that are no special ones.
SAID, REFUSED = 0.1, 0.5


@dataclass
class Coverage:
    """Sums over inputs, which add up over shards.

    * `share`: of what uniform attention gives each class of an input's tokens; `log_length`: of its entropy.
    """

    inputs: int = 0
    tokens: int = 0
    share: Float[np.ndarray, "4"] = field(default_factory=lambda: np.zeros(len(TOKEN_CLASSES)))
    log_length: float = 0.0

    def add(self, group: Iterable[Encoded], *, causal: bool = False) -> None:
        """Count a batch of inputs, in which no token of a causal model sees those after it."""
        for encoded in group:
            self.inputs += 1
            self.tokens += (length := len(encoded))
            received = np.cumsum(1 / np.arange(length, 0, -1))[::-1] if causal else None
            self.share += np.bincount(encoded.token_class, received, len(TOKEN_CLASSES)) / length
            self.log_length += lgamma(length + 1) / length if causal else float(np.log(length))

    def __add__(self, other: "Coverage") -> "Coverage":
        """The sums of both sets of inputs."""
        return Coverage(
            self.inputs + other.inputs,
            self.tokens + other.tokens,
            self.share + other.share,
            self.log_length + other.log_length,
        )

    def variables(self) -> dict[str, xr.DataArray]:
        """The references that a profile is read against."""
        variables = Variables({"token_class": TOKEN_CLASSES}, "", by_name(COVERAGE))
        variables.add("token_share", self.share / self.inputs)
        variables.add("uniform_entropy", self.log_length / self.inputs)
        return variables.arrays


def unknown_line(corpus: str, tokenizer: PreTrainedTokenizerBase, unknown: int, tokens: int, inputs: int) -> str:
    """The share of unknown tokens, of all that were read, and the likely reason in a line; empty up to a tenth.

    Raises `HeadscopeError` for more than a half.
    """
    share = unknown / max(1, tokens - inputs * tokenizer.num_special_tokens_to_add())
    line = f"corpus '{corpus}': {share:.0%} of its tokens are unknown to the model ('{tokenizer.unk_token}')"
    if share > REFUSED:
        raise HeadscopeError(f"{line}; {_reason(tokenizer)}; use other texts or another tokenizer")
    return f"{line}; {_reason(tokenizer)}" if share > SAID else ""


def _reason(tokenizer: PreTrainedTokenizerBase) -> str:
    """Why tokens may be unknown, by the letters of the vocabulary."""
    pieces = tokenizer.get_vocab().keys() - set(tokenizer.all_special_tokens)
    if all(len(piece) == 1 for piece in pieces):
        return "its pieces are single letters, but not all: put blanks between them, or read with --kind fasta"
    letters = "".join(pieces)
    if letters == letters.upper():
        return "its vocabulary has no small letters"
    if letters == letters.lower():
        return "its vocabulary has no capitals: is 'do_lower_case' of its tokenizer off?"
    return "its vocabulary may lack their script or language"
