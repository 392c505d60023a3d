"""Observers of one batch after another.

Maps are never kept: each block of attention rows goes to every measure while it is in cache, and the observed parts
become values of each example at the end of a batch.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, NoReturn, Protocol, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.fused_statistics import FusedStatistics, NeedsMap
from headscope.capture.observer import Observer, RowEntropy
from headscope.capture.watch import Enough
from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.block_parts import BlockParts
from headscope.encoding.fused_rows import FusedRows, statistics_of
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes.batches import Check
from headscope.passes.measures import Measure

Observed = TypeVar("Observed", covariant=True)


class BatchObserver(Protocol[Observed]):
    """An observer of one batch after another."""

    batch: Batch

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""

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
        self.add(layer, Rows(attention, self.batch, examples, queries, entropy, heads, keys))

    def add(self, layer: int, rows: Rows, /) -> None:
        """Observe a block."""
        raise NotImplementedError


class MeasureObserver(RowsObserver):
    """An observer that keeps the parts of each measure for the current batch; measures may share what they observe.

    * `needs_map`: why attention cannot be fused with these measures; "" as long as it can.
    """

    statistics: FusedStatistics | None = None
    needs_map = ""

    def __init__(self, measures: Mapping[str, Measure | ModuleType]):
        self.measures = measures

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        self.batch, self.statistics = batch, None
        functions = {measure.observe for measure in self.measures.values()}
        tokens = batch.real.shape[1]
        self.observed = {observe: BlockParts(tokens, summed=getattr(observe, "summed", False)) for observe in functions}

    def add(self, layer: int, *rows: Rows) -> None:
        """Observe a block: the rows of one model, or the same rows of two."""
        for measure in self._observing():
            with naming(measure):
                self.observed[measure.observe].add(layer, rows[0], measure.observe(*rows))

    def _observing(self) -> Iterable[Any]:
        """A measure for each of the functions that observe, which some share."""
        return {measure.observe: measure for measure in self.measures.values()}.values()

    @contextmanager
    def fusing(self, heads: tuple[int, ...]) -> Iterator[None]:
        """Within this context a forward pass of the batch is read by fused kernels; `heads`: of each layer.

        Raises `NeedsMap` if a measure, or the model, does not do without maps.
        """
        self.statistics = statistics_of(self.batch, heads)
        yield
        if not self.statistics.layers:  # the blocks of another way to attend were observed
            self.statistics, self.needs_map = None, "the model's attention is its own"
            return
        rows: Any = FusedRows(self.batch, self.statistics)
        self.fused = {}
        for measure in self._observing():
            with naming(measure):
                self.fused[measure.observe] = measure.observe(rows)

    def finish(self) -> dict[str, Values]:
        """Each measure's values; heads of all layers in a row."""
        joined = self.fused if self.statistics else {key: parts.joined() for key, parts in self.observed.items()}
        return {name: self._finished(measure, joined[measure.observe]) for name, measure in self.measures.items()}

    def _finished(self, measure: Any, observed: Tensor) -> Values:
        with naming(measure):
            values = measure.finish(observed, self.batch)
            if not isinstance(values, Values):
                raise TypeError(f"finish returns a {type(values).__name__}, not Values")
            return values


@contextmanager
def naming(measure: Any) -> Iterator[None]:
    """Within this context an error of a measure of another package becomes a `HeadscopeError` that names it."""
    try:
        yield
    except (HeadscopeError, NeedsMap, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        if str(getattr(measure, "__name__", type(measure).__module__)).startswith("headscope."):
            raise
        reason = " ".join(str(error).split())
        raise HeadscopeError(
            f"measure '{measure.VARIABLE.name}' fails ({type(error).__name__}: {reason}); correct it, or leave it out"
        ) from error


class FiniteAttention:
    """An observer that passes all blocks on to another one, and refuses a batch with attention that is not finite.

    A softmax over scores of which one is infinite or not a number makes the whole row NaN, and then the same row in all
    later layers. So the attention to the first token in the last layer stands for the rows of all layers; a second
    forward pass finds the first of them.
    """

    batch: Batch
    first: Float[Tensor, "layer example token"]

    def __init__(self, model: Model, observer: Observer):
        self.model, self.observer, self.locating = model, observer, False
        self.key_ranges = getattr(observer, "key_ranges", False)

    @property
    def statistics(self) -> FusedStatistics | None:
        """What reads fused attention for the observer, if anything."""
        return None if self.locating else getattr(self.observer, "statistics", None)

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        shape = (len(self.model.capture.heads), *batch.real.shape)
        self.batch, self.first = batch, torch.zeros(shape, device=batch.real.device)

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, *details: Any) -> None:
        if self.locating or layer == len(self.first) - 1:
            self.first[layer, examples, queries] += attention[..., 0].sum(1)
        if not self.locating:
            self.observer(layer, attention, examples, queries, *details)

    def refuse(self) -> None:
        """Raise `HeadscopeError` for the first layer and example of the batch with attention that is not finite."""
        self.later()()

    def later(self) -> Check:
        """A function that does what `refuse` does, and alone waits for the device."""
        if self.statistics and self.statistics.layers:
            self.first[-1] = self.statistics.read["entropy"][:, -self.model.capture.heads[-1] :].sum(1)
        wrong = (self.first[-1].isnan() & self.batch.real).any()
        return lambda: self._locate() if wrong else None

    def _locate(self) -> NoReturn:
        self.locating = True
        with self.model.observed(self), torch.inference_mode(), suppress(Enough):
            self.model.network(**self.batch.inputs)
        wrong = (self.first.isnan() & self.batch.real).any(-1)  # [layer, example]
        layer = int(wrong.any(-1).nonzero()[0])
        example = int(self.batch.index[wrong[layer]].min()) + 1
        dtype = str(self.model.network.dtype).removeprefix("torch.")
        remedy = "use --dtype float32" if dtype in ("float16", "bfloat16") else "leave the example out"
        raise HeadscopeError(
            f"model '{self.model.name}': the attention of layer {layer + 1} is not finite in example {example}, "
            f"computed in {dtype}; {remedy}, or use another model"
        )
