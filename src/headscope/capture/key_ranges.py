"""The keys that any query of a block can see: under a causal mask or a window the others need not be computed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headscope.capture.attention_mask import mask_block, seen_block
from headscope.capture.observer import blocks, cells_of, heads_together, least_rows, tiles

# Rows of a mask that are looked at together.
ROWS = 512
# Numbers of the parts of a mask that are kept.
KEPT = 2**22
# A block costs as much as this share of the cells of the largest one, beside its own cells.
BLOCK_COST = 1 / 16
# Matrix products read each key of a block once, which costs as much as this many further rows.
KEY_COST = 10


@dataclass(frozen=True)
class KeyRanges:
    """The first key that each query sees in any example and head, and the one after the last.

    A query that sees no key has all of them: its attention is even. From `clear` to before `end` the mask is 0 in all
    examples and heads.
    """

    first: Int[np.ndarray, " query"]
    last: Int[np.ndarray, " query"]
    clear: Int[np.ndarray, " query"]
    end: Int[np.ndarray, " query"]
    keys: int

    def of(self, queries: slice) -> slice:
        """The keys that at least one of these queries sees."""
        return slice(int(self.first[queries].min()), int(self.last[queries].max()))

    def masked(self, queries: slice) -> list[slice]:
        """The keys of `of(queries)` where the mask of some query is not 0, in one or two ranges."""
        keys = self.of(queries)
        start, stop = int(self.clear[queries].max()), int(self.end[queries].min())
        if stop <= start:
            return [keys]
        return [part for part in (slice(keys.start, start), slice(stop, keys.stop)) if part.start < part.stop]

    def widths(self, rows: int) -> list[int]:
        """How many keys each block of this many neighbouring queries sees."""
        starts = np.arange(0, len(self.first), rows)
        return (np.maximum.reduceat(self.last, starts) - np.minimum.reduceat(self.first, starts)).tolist()


def key_ranges(mask: Tensor | None, examples: int, queries: int, keys: int) -> KeyRanges | None:
    """The ranges of a mask [example, head, query, key]; None without a mask.

    They are found once for all layers that share a mask.
    """
    if mask is None or not (examples and queries and keys):
        return None
    ranges = vars(mask).get("ranges")
    if ranges is None:
        ranges = vars(mask)["ranges"] = _ranges_of(mask, examples, queries, keys)
    return ranges


def _ranges_of(mask: Tensor, examples: int, queries: int, keys: int) -> KeyRanges:
    ends = []
    for start in range(0, queries, ROWS):
        rows = slice(start, min(start + ROWS, queries))
        # [example, head, query, key]; of bytes extrema are found faster than of truth values
        seen, clear = (part.view(torch.uint8) for part in seen_block(mask, slice(0, examples), rows))
        sees_none = (seen.amax(-1) == 0).any(1).any(0)[:, None]
        # [query, key]; a mask of one row is that of all queries
        both = (part.expand(rows.stop - rows.start, -1) for part in (seen.amax((0, 1)) | sees_none, clear.amin((0, 1))))
        seen, clear = (part.cpu().numpy().view(bool) for part in both)
        ends.append((seen.argmax(-1), seen.shape[-1] - seen[:, ::-1].argmax(-1), *_first_run(clear)))
    return KeyRanges(*(np.concatenate(parts) for parts in zip(*ends, strict=True)), keys=keys)


def _first_run(clear: Bool[np.ndarray, "query key"]) -> tuple[np.ndarray, np.ndarray]:
    """The first key of each query where the mask is 0, and the next one where it is not; twice 0 for none."""
    next_clear = np.pad(clear[:, 1:], ((0, 0), (0, 1)))
    return clear.argmax(-1), np.where(clear.any(-1), (clear > next_clear).argmax(-1) + 1, 0)


def mask_parts(
    mask: Tensor | None, ranges: KeyRanges | None, examples: slice, queries: slice, heads: slice
) -> list[tuple[slice, Tensor]]:
    """What a mask adds to the scores of a block, where it is not 0 throughout: columns of the block, and their mask.

    It is kept for the other heads and layers that share the mask, up to `KEPT` numbers.
    """
    if mask is None or ranges is None:
        return []
    kept: dict[tuple, list[tuple[slice, Tensor]]] = vars(mask).setdefault("parts", {})
    # Layers with other numbers of heads, as of a pruned model, have other blocks.
    own_heads = (heads.start, heads.stop) if mask.shape[1] > 1 else ()
    key = examples.start, examples.stop, queries.start, queries.stop, *own_heads
    if key not in kept:
        start = ranges.of(queries).start
        parts = [
            (slice(keys.start - start, keys.stop - start), mask_block(mask, examples, queries, heads, keys))
            for keys in ranges.masked(queries)
        ]
        numbers = vars(mask).setdefault("numbers", 0) + sum(part.numel() for _, part in parts)
        if numbers > KEPT:
            return parts
        kept[key], vars(mask)["numbers"] = parts, numbers
    return kept[key]


def ranged_blocks(
    ranges: KeyRanges | None,
    examples: int,
    heads: int,
    queries: int,
    keys: int,
    device: torch.device,
    *,
    some_heads: bool = True,
    group: int = 1,
) -> Iterator[tuple[slice, slice, slice, slice]]:
    """The blocks of `blocks`, each with the keys that its queries see, and as many rows as are cheap.

    * `group`: heads that share their keys; a block has some of one group, or several whole groups.
    """
    cells = cells_of(device)
    if ranges is None or heads * queries * keys <= cells:
        parts = blocks(examples, heads, queries, keys, device, some_heads=some_heads, group=group)
    else:
        parts = tiles((examples, heads, queries), (1, *_cheapest(ranges, cells, heads, group if some_heads else None)))
    for block in parts:
        yield *block, ranges.of(block[2]) if ranges else slice(0, keys)


def _cheapest(ranges: KeyRanges, cells: int, heads: int, group: int | None) -> tuple[int, int]:
    """The heads and the rows of the cheapest blocks; with None as `group` a block has all heads."""
    least, queries = least_rows(), len(ranges.first)

    def size(rows: int) -> tuple[float, int, int]:
        """The cost of a layer in blocks of this many rows, the cells of the largest one, and its heads."""
        widths = ranges.widths(rows)
        together = heads_together(cells // (rows * max(widths)), heads, group) if group else heads
        number = -(-heads // together) * len(widths)
        cost = heads * (rows + KEY_COST) * sum(widths) + number * cells * BLOCK_COST
        return cost, rows * max(widths) * together, together

    choices = {min(rows, queries) for rows in (max(least, cells // ranges.keys), *_doubled(least, queries))}
    sizes = {rows: size(rows) for rows in choices}
    rows = min(sizes, key=lambda rows: (sizes[rows][1] > cells and rows > least, sizes[rows][0], -rows))
    return sizes[rows][2], rows


def _doubled(least: int, most: int) -> Iterator[int]:
    """The smaller number, and its doubles up to the larger one, which is the last."""
    while least < most:
        yield least
        least *= 2
    yield most
