"""The keys that a query sees, as a band around it: all, those up to it, or those in a window."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor

# More keys than any input has.
FAR = 2**30
# Rows of a mask that are looked at together.
ROWS = 512


@dataclass(frozen=True)
class Band:
    """A query sees the keys from `left` before it to `right` after it, both included, of those that are real.

    >>> Band(FAR, 0).of(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """

    left: int = FAR
    right: int = FAR

    def of(self, tokens: int, queries: slice = slice(None)) -> Bool[Tensor, "query key"]:
        """The keys that each of the given queries sees, among this many tokens."""
        ahead = torch.arange(tokens) - torch.arange(tokens)[queries, None]
        return (ahead >= -self.left) & (ahead <= self.right)

    @property
    def is_all(self) -> bool:
        """Whether each query sees all keys."""
        return min(self.left, self.right) >= FAR


ALL = Band()


def band_of(mask_function: Callable[..., Any], tokens: int) -> Band | None:
    """The band that a mask function of transformers draws for this many tokens; None if it draws another shape.

    Each cell is compared, once for a function with the same code and numbers: its name says nothing.
    """
    signature = _signature(mask_function)
    return None if signature is None else _band(_Named(signature, mask_function), tokens)


@dataclass(frozen=True, eq=False)
class _Named:
    """A function that equals others with the same signature."""

    signature: tuple
    function: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and self.signature == other.signature

    def __hash__(self) -> int:
        return hash(self.signature)


def _signature(value: Any) -> tuple | None:
    """The code of a function and the numbers that it closes over; None where there is more, such as a tensor."""
    if value is None or isinstance(value, (bool, int)):
        return (value,)
    if isinstance(value, (tuple, list)):
        parts = [_signature(part) for part in value]
        return None if None in parts else tuple(parts)
    if not isinstance(value, FunctionType):
        return None
    cells: tuple[CellType, ...] = value.__closure__ or ()
    parts = [_signature(cell.cell_contents) for cell in cells]
    return None if None in parts else (value.__code__, *parts)


@lru_cache(maxsize=4096)
def _band(named: _Named, tokens: int) -> Band | None:
    rows = [slice(start, min(start + ROWS, tokens)) for start in range(0, tokens, ROWS)]
    seen = [_seen(named.function, tokens, row) for row in rows]
    first, last = seen[0][0].nonzero(), seen[-1][-1].nonzero()
    if not (len(first) and len(last)):
        return None
    # The first query sees furthest ahead, the last one furthest back; to the end of the input may be to any.
    right, left = int(first[-1]), tokens - 1 - int(last[0])
    band = Band(FAR if left == tokens - 1 else left, FAR if right == tokens - 1 and tokens > 1 else right)
    same = all(torch.equal(part, band.of(tokens, row)) for part, row in zip(seen, rows, strict=True))
    return band if same else None


def _seen(mask_function: Callable[..., Any], tokens: int, rows: slice) -> Bool[Tensor, "query key"]:
    zero, keys = torch.tensor(0), torch.arange(tokens)
    queries = keys[rows, None]
    return torch.as_tensor(mask_function(zero, zero, queries, keys)).to(torch.bool).expand(len(queries), tokens)
