"""Protocols of observers, which read attention, and interventions, which change it; the blocks of rows they receive."""

from collections.abc import Iterator
from typing import Protocol

from jaxtyping import Float
from torch import Tensor

# Two BERT-base maps of 128 tokens: a block stays in a core's cache, which is what makes looking at it cheap.
BLOCK_ELEMENTS = 2 * 12 * 128 * 128
# Fewer rows than this make slow matrix products; long inputs get larger blocks instead.
LEAST_ROWS = 64


class Observer(Protocol):
    """A function that receives every block of every layer once: examples in order, queries in order within them."""

    def __call__(
        self,
        layer: int,
        attention: Float[Tensor, "example head query key"],
        examples: slice,
        queries: slice,
        scores: Float[Tensor, "example head query key"] | None,
        /,
    ) -> None:
        """`attention` is that of the batch's `examples` and `queries` in `layer` (from 0), and is not kept.

        `scores` are what went into the softmax, less the largest of each row; None at a softmax tap.
        """
        ...


class Intervention(Protocol):
    """A function that receives blocks of attention as an observer does, and returns their replacements."""

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

        `scores` are what went into the softmax, less the largest of each row; below `HIDDEN` where a query
        does not see a key. At a softmax tap a block is the whole map.
        """
        ...


# The exponential of this is 0 in any format: a score that a mask has made. Real ones stay far above.
HIDDEN = -9e3


def blocks(examples: int, heads: int, queries: int, keys: int) -> Iterator[tuple[slice, slice]]:
    """The slices of examples and queries that bound a block's size.

    >>> list(blocks(examples=4, heads=12, queries=128, keys=128))
    [(slice(0, 2, None), slice(0, 128, None)), (slice(2, 4, None), slice(0, 128, None))]
    """
    rows = max(LEAST_ROWS, BLOCK_ELEMENTS // max(1, heads * keys))
    together = max(1, rows // queries)
    for first in range(0, examples, together):
        for row in range(0, queries, rows):
            yield slice(first, min(first + together, examples)), slice(row, min(row + rows, queries))
