"""Observers of one batch after another.

Maps are never kept: each block of attention rows goes to every measure while it is in cache, and the observed parts
become values of each example at the end of a batch.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Protocol, TypeVar

from torch import Tensor

from headscope.capture.observer import RowEntropy
from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.block_parts import BlockParts
from headscope.passes.measures import Measure

Observed = TypeVar("Observed", covariant=True)


class BatchObserver(Protocol[Observed]):
    """An observer of one batch after another."""

    batch: Batch

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        ...

    def __call__(
        self,
        layer: int,
        attention: Tensor,
        examples: slice,
        queries: slice,
        entropy: RowEntropy | None,
        heads: slice,
        /,
    ) -> None:
        """See `Observer`."""
        ...

    def finish(self) -> Observed:
        """Return the observations of the batch, once all of its attention was observed."""
        ...


class RowsObserver:
    """An observer whose `add` is given any blocks of one batch after another."""

    batch: Batch
    key_ranges = True

    def __call__(
        self,
        layer: int,
        attention: Tensor,
        examples: slice,
        queries: slice,
        entropy: RowEntropy | None = None,
        heads: slice | None = None,
        keys: slice | None = None,
    ) -> None:
        """See `Observer`."""
        self.add(layer, Rows(attention, self.batch, examples, queries, entropy, heads, keys))

    def add(self, layer: int, rows: Rows, /) -> None:
        """Observe a block."""
        raise NotImplementedError


class MeasureObserver(RowsObserver):
    """An observer that keeps the parts of each measure for the current batch; measures may share what they observe."""

    def __init__(self, measures: Mapping[str, Measure | ModuleType]):
        self.measures = measures

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        self.batch = batch
        self.observed = {measure.observe: BlockParts(batch.real.shape[1]) for measure in self.measures.values()}

    def add(self, layer: int, *rows: Rows) -> None:
        """Observe a block: the rows of one model, or the same rows of two."""
        for observe, parts in self.observed.items():
            parts.add(layer, rows[0], observe(*rows))

    def finish(self) -> dict[str, Values]:
        """Each measure's values; heads of all layers in a row."""
        joined = {observe: parts.joined() for observe, parts in self.observed.items()}
        return {name: measure.finish(joined[measure.observe], self.batch) for name, measure in self.measures.items()}
