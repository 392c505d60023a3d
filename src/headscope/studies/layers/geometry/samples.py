"""Samples of token occurrences of bounded size that merge: which ones are kept depends on the seed and them alone.

Each occurrence and each token of the vocabulary has a pseudo-random key; the lowest keys are kept (bottom-k sampling).
Batches, their order and shards do not change a sample, and two models that read the same inputs sample the same ones.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from headscope.statistics.columns import Columns

# Most occurrences of one token that are kept among repeated tokens.
CONTEXTS = 32


@dataclass(frozen=True)
class Occurrences(Columns):
    """A row for each kept token; a space is that of the embeddings, then that of each layer's output.

    * `key`: the lowest are kept; `input`, `position`, `segment`: place of the token; `document`: the number of what is
      resampled with its input, its document or the input itself; `paired`: whether its input has two segments;
      `token`: its vocabulary number.
    * `unit`: its vectors, divided by their `norm`.
    """

    key: UInt64[np.ndarray, " occurrence"]
    input: Int[np.ndarray, " occurrence"]
    document: Int[np.ndarray, " occurrence"]
    position: Int[np.ndarray, " occurrence"]
    segment: Int[np.ndarray, " occurrence"]
    paired: Bool[np.ndarray, " occurrence"]
    token: Int[np.ndarray, " occurrence"]
    unit: Float[np.ndarray, "occurrence space width"]
    norm: Float[np.ndarray, "occurrence space"]

    def vectors(self, space: int) -> Float[np.ndarray, "occurrence width"]:
        """The vectors of one space."""
        return self.units(space) * self.norm[:, space, None]

    def units(self, space: int) -> Float[np.ndarray, "occurrence width"]:
        """The vectors of one space, of length 1."""
        return of_length_one(self.unit[:, space])


def of_length_one(vectors: Float[np.ndarray, "*dims width"]) -> Float[np.ndarray, "*dims width"]:
    """Vectors by their lengths, in single precision: those kept in half precision are not quite of length 1."""
    single = vectors.astype(np.float32)
    return single / np.maximum(np.linalg.norm(single, axis=-1, keepdims=True), np.finfo(np.float32).tiny)


def keys(seed: int, *numbers: Int[np.ndarray, " row"]) -> UInt64[np.ndarray, " row"]:
    """Pseudo-random 64-bit numbers of each row of several numbers (splitmix64: Steele et al. 2014).

    >>> keys(0, np.array([1, 2])).tolist() == keys(0, np.array([2, 1])).tolist()[::-1]
    True
    """
    state = np.full(len(numbers[0]), seed, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for word in numbers:
            state = (state ^ word.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state ^= state >> np.uint64(31)
    return state


@dataclass(frozen=True)
class RandomSample:
    """At most `bound` occurrences, all equally likely."""

    bound: int
    rows: Occurrences | None = None

    def wanted(self, key: UInt64[np.ndarray, " occurrence"], token: Int[np.ndarray, " occurrence"]) -> np.ndarray:
        """Numbers of the occurrences that may stay in the sample."""
        if self.rows is None or len(self.rows) < self.bound:
            return np.arange(len(key))
        return np.flatnonzero(key < self.rows.key.max())

    def __add__(self, other: Self) -> Self:
        """The sample of both sets of occurrences."""
        rows = _joined(self.rows, other.rows)
        return type(self)(self.bound, None if rows is None else rows[np.argsort(rows.key, kind="stable")[: self.bound]])


@dataclass(frozen=True)
class RepeatedSample:
    """Occurrences, up to `CONTEXTS` of each, of tokens of the vocabulary, at most `bound` in all.

    * `limit`: the key from which on tokens of the vocabulary are left out.
    """

    bound: int
    seed: int
    rows: Occurrences | None = None
    limit: int = (1 << 64) - 1

    def wanted(self, key: UInt64[np.ndarray, " occurrence"], token: Int[np.ndarray, " occurrence"]) -> np.ndarray:
        """Numbers of the occurrences that may stay in the sample."""
        return np.flatnonzero(keys(self.seed, token) < np.uint64(self.limit))

    def __add__(self, other: Self) -> Self:
        """The sample of both sets of occurrences: tokens come in the order of their keys as long as there is room."""
        rows, limit = _joined(self.rows, other.rows), min(self.limit, other.limit)
        if rows is None:
            return type(self)(self.bound, self.seed, None, limit)
        token_key = keys(self.seed, rows.token)
        order = np.lexsort((rows.key, token_key))
        token_key = token_key[order]
        # Number of each occurrence among those of its token.
        first = np.searchsorted(token_key, token_key)
        kept = (np.arange(len(order)) - first < CONTEXTS) & (token_key < np.uint64(limit))
        order, token_key = order[kept], token_key[kept]
        if len(order) > self.bound:
            limit = int(token_key[self.bound])
            order = order[token_key < np.uint64(limit)]
        return type(self)(self.bound, self.seed, rows[order], limit)


def _joined(first: Occurrences | None, second: Occurrences | None) -> Occurrences | None:
    parts = [rows for rows in (first, second) if rows is not None]
    if len(parts) < 2:
        return parts[0] if parts else None
    return Occurrences.concatenate(parts)
