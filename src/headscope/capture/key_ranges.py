"""The keys that any query of a block can see: under a causal mask or a window the others need not be computed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from headscope.capture.attention_mask import floor_of, mask_block
from headscope.capture.observer import LEAST_ROWS, Blocks, blocks, cells_of, tiles

# Rows of a mask that are looked at together.
ROWS = 512
# A band is a mask whose queries see at most this share of the keys.
BAND = 0.5


@dataclass(frozen=True)
class KeyRanges:
    """The first key that each query sees in any example and head, and the one behind the last.

    A query that sees no key has all of them: its attention is even.
    """

    first: Int[np.ndarray, " query"]
    last: Int[np.ndarray, " query"]
    keys: int

    def of(self, queries: slice) -> slice:
        """The keys that any of some queries sees."""
        return slice(int(self.first[queries].min()), int(self.last[queries].max()))

    def width(self, rows: int) -> int:
        """The most keys that a block of so many neighbouring queries sees."""
        return max(self._width(start, rows) for start in range(0, len(self.first), rows))

    def _width(self, start: int, rows: int) -> int:
        keys = self.of(slice(start, start + rows))
        return keys.stop - keys.start


def key_ranges(mask: Tensor | None, examples: int, queries: int, keys: int) -> KeyRanges | None:
    """The ranges of a mask [example, head, query, key]; None where there is no mask, or it hides no key at an end.

    They are found once for all layers that share a mask.
    """
    if mask is None:
        return None
    known = vars(mask).get("ranges")
    if known is None:
        ranges = _ranges_of(mask, examples, queries, keys)
        known = vars(mask)["ranges"] = (ranges,)
    return known[0]


def _ranges_of(mask: Tensor, examples: int, queries: int, keys: int) -> KeyRanges | None:
    first, last = np.zeros(queries, dtype=int), np.full(queries, keys)
    for start in range(0, queries, ROWS):
        rows = slice(start, min(start + ROWS, queries))
        part = mask_block(mask, slice(0, examples), rows)
        seen = part > floor_of(part.dtype) / 2  # [example, head, query, key]
        empty = ~seen.any(-1)
        seen = seen.any(1).any(0).expand(rows.stop - rows.start, -1)
        sees_none = empty.any(1).any(0).expand(len(seen)).cpu().numpy()
        ends = seen.shape[-1] - seen.flip(-1).to(torch.uint8).argmax(-1)
        first[rows] = np.where(sees_none, 0, seen.to(torch.uint8).argmax(-1).cpu().numpy())
        last[rows] = np.where(sees_none, keys, ends.cpu().numpy())
    return KeyRanges(first, last, keys) if (first > 0).any() or (last < keys).any() else None


def ranged_blocks(
    ranges: KeyRanges | None, examples: int, heads: int, queries: int, keys: int, device: torch.device
) -> Iterator[tuple[slice, slice, slice, slice]]:
    """The blocks of `blocks`, each with the keys that its queries see; of a narrow band, blocks with few rows."""
    for block in _blocks(ranges, examples, heads, queries, keys, device):
        yield *block, ranges.of(block[2]) if ranges else slice(0, keys)


def _blocks(
    ranges: KeyRanges | None, examples: int, heads: int, queries: int, keys: int, device: torch.device
) -> Blocks:
    window = ranges.width(1) if ranges else keys
    rows = max(LEAST_ROWS, window)
    if ranges is None or not heads or ranges.width(rows) > BAND * keys:
        yield from blocks(examples, heads, queries, keys, device, some_heads=True)
        return
    side_by_side = max(1, cells_of(device) // (rows * ranges.width(rows)))
    yield from tiles((examples, heads, queries), (1, side_by_side, rows))
