"""Protocols of observers, which read attention, and interventions, which change it; the blocks of rows they receive."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor

# Half as many cells as a core has bytes of second cache, within these limits. Such blocks were fastest where the cache
# has 1 MiB and where it has 2. Releases of torch before 2.10 do not know its size.
LEAST_CELLS, MOST_CELLS = 2**18, 2**20
SECOND_CACHE: int = getattr(torch.cpu, "get_capabilities", dict)().get("l2_cache_size", 2**20)
BLOCK_ELEMENTS = min(max(LEAST_CELLS, SECOND_CACHE // 2), MOST_CELLS)
# Cores that share a block; of more, each gets a smaller part.
MOST_CORES = 8
# On an accelerator few kernels matter more: a block of 512 MiB is a whole layer of most batches.
ACCELERATOR_ELEMENTS = 2**27
# Fewer rows than this make slow matrix products; long inputs get larger blocks instead.
LEAST_ROWS = 64
# In `small_blocks`.
FEW_ROWS = 3
_small: ContextVar[bool] = ContextVar("small blocks", default=False)
CPU = torch.device("cpu")


# A function that computes the entropy of each row of a block, in nats.
RowEntropy = Callable[[], Float[Tensor, "example head query"]]
Blocks = Iterator[tuple[slice, slice, slice]]


class Observer(Protocol):
    """A function that receives every block of every layer once: examples in order, queries in order within them.

    An observer with a true attribute `key_ranges` may receive a block of some heads, and of the keys alone that some
    query of the block sees: their slice follows `heads`, and the attention to all others is 0. Within examples heads
    are in order, and queries within them. Another observer receives all heads and all keys.
    """

    def __call__(
        self,
        layer: int,
        attention: Float[Tensor, "example head query key"],
        examples: slice,
        queries: slice,
        entropy: RowEntropy | None,
        heads: slice,
        /,
    ) -> None:
        """`attention` is that of the batch's `examples`, `heads` and `queries` in `layer` (from 0), and is not kept.

        `entropy` computes that of its rows; None at a softmax tap, and where an intervention has changed attention.
        """
        ...


class Intervention(Protocol):
    """A function that receives blocks of attention as an observer does, and returns their replacements.

    A block has all heads; with a true attribute `key_ranges`, only the keys that some query of the block sees.
    """

    def __call__(
        self,
        layer: int,
        attention: Float[Tensor, "example head query key"],
        examples: slice,
        queries: slice,
        scores: Float[Tensor, "example head query key"],
        /,
    ) -> Float[Tensor, "example head query key"]:
        """`attention` itself where nothing is to change: it is not to be written to.

        `scores` are what went into the softmax minus the largest of each row; below `HIDDEN` where a query
        does not see a key. At a softmax tap a block is the whole map.
        """
        ...


# The exponential of this is 0 in any format: a score that a mask has made. Real ones stay far above.
HIDDEN = -9e3


def blocks(
    examples: int,
    heads: int,
    queries: int,
    keys: int,
    device: torch.device = CPU,
    *,
    some_heads: bool = False,
    group: int = 1,
) -> Blocks:
    """The slices of examples, heads and queries that bound a block's size on a device.

    * `some_heads`: where one example is too large, divide its heads before its queries.
    * `group`: heads that share their keys; see `heads_together`.

    >>> list(blocks(examples=4, heads=4, queries=128, keys=128))
    [(slice(0, 4, None), slice(0, 4, None), slice(0, 128, None))]
    >>> [(heads, queries) for _, heads, queries in blocks(1, 2, queries=64, keys=2**20, some_heads=True)]
    [(slice(0, 1, None), slice(0, 64, None)), (slice(1, 2, None), slice(0, 64, None))]
    """
    cells = cells_of(device)
    side_by_side = heads_together(cells // max(1, queries * keys), heads, group) if some_heads else heads
    rows = max(least_rows(), cells // max(1, side_by_side * keys))
    together = max(1, rows // queries) if side_by_side == heads else 1
    yield from tiles((examples, heads, queries), (together, side_by_side, rows))


def heads_together(most: int, heads: int, group: int = 1) -> int:
    """At most this many of a layer's heads, but one at least: some of one group, or several whole groups.

    >>> [heads_together(most, heads=12, group=4) for most in (0, 3, 4, 11, 99)]
    [1, 2, 4, 8, 12]
    """
    most = max(1, min(most, heads))
    if most >= group:
        return most // group * group
    return max(some for some in range(1, most + 1) if group % some == 0)


def tiles(shape: tuple[int, int, int], size: tuple[int, int, int]) -> Blocks:
    """The blocks of one size that cover a layer [example, head, query], in this order; those at the ends are smaller.

    >>> [(heads, queries) for _, heads, queries in tiles((1, 2, 3), (1, 2, 2))]
    [(slice(0, 2, None), slice(0, 2, None)), (slice(0, 2, None), slice(2, 3, None))]
    """
    (examples, heads, queries), (together, side_by_side, rows) = shape, size
    for first in range(0, examples, together):
        for head in range(0, heads, side_by_side) if heads else (0,):  # without heads, blocks are empty
            for row in range(0, queries, rows):
                yield (
                    slice(first, min(first + together, examples)),
                    slice(head, min(head + side_by_side, heads)),
                    slice(row, min(row + rows, queries)),
                )


def least_rows() -> int:
    """How many rows a block has at least."""
    return FEW_ROWS if _small.get() else LEAST_ROWS


@contextmanager
def small_blocks() -> Iterator[None]:
    """Within this context blocks have few rows of one head, so that a short input has many of them."""
    token = _small.set(True)
    try:
        yield
    finally:
        _small.reset(token)


def cells_of(device: torch.device) -> int:
    """How many cells of attention a block has on a device."""
    if _small.get():
        return 1
    if device.type != "cpu":
        return ACCELERATOR_ELEMENTS
    return BLOCK_ELEMENTS * min(MOST_CORES, torch.get_num_threads())
