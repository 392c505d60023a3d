"""Forward passes under an observer: one batch at a time.

Maps are never kept: each block of attention rows goes to every measure while it is in cache, and the observed parts
become values of each example at the end of a batch.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from types import ModuleType
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from headscope.capture.observer import RowEntropy
from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.batches import collator
from headscope.passes.finite_attention import FiniteAttention
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


class MeasureObserver:
    """An observer that keeps the parts of each measure for the current batch; measures may share what they observe."""

    batch: Batch
    some_heads = key_ranges = True

    def __init__(self, measures: Mapping[str, Measure | ModuleType]):
        self.measures = measures

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        self.batch = batch
        # By function and layer, a part for each block of examples and heads, with the first of its examples.
        self.observed: dict[Callable[..., Tensor], dict[int, list[tuple[int, Tensor]]]] = {
            measure.observe: defaultdict(list) for measure in self.measures.values()
        }

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
        self.add(layer, Rows(attention, self.batch, examples, queries, entropy, keys))

    def add(self, layer: int, *rows: Rows) -> None:
        """Observe a block: the rows of one model, or the same rows of two.

        The first block of some examples' and heads' queries starts a new part, later ones are added to it.
        """
        first = rows[0].examples.start
        for observe, layers in self.observed.items():
            part, parts = observe(*rows), layers[layer]
            if rows[0].queries.start == 0:
                parts.append((first, part))
            else:
                parts[-1] = first, parts[-1][1] + part

    def finish(self) -> dict[str, Values]:
        """Each measure's values; heads of all layers in a row."""
        joined = {observe: _joined(layers) for observe, layers in self.observed.items()}
        return {name: measure.finish(joined[measure.observe], self.batch) for name, measure in self.measures.items()}


def _joined(layers: Mapping[int, Sequence[tuple[int, Tensor]]]) -> Tensor:
    """The parts of all layers: blocks of heads side by side, then blocks of examples, then the heads of all layers."""
    return _cat([_cat(_examples(layers[layer]), dim=0) for layer in sorted(layers)], dim=1)


def _examples(parts: Sequence[tuple[int, Tensor]]) -> list[Tensor]:
    return [_cat([part for _, part in blocks], dim=1) for _, blocks in groupby(parts, key=itemgetter(0))]


def _cat(tensors: list[Tensor], dim: int) -> Tensor:
    """As `torch.cat`, without a copy of a single tensor."""
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, dim)


@contextmanager
def observing(model: Model, observer: BatchObserver[Any]) -> Iterator[Callable[[list[Encoded]], Any]]:
    """Put an observer into a model; the context's function runs a batch of inputs and returns `observer.finish()`.

    Raises `RuntimeError` if the model computes attention more or less often than it has layers, `HeadscopeError` if
    attention is not finite.
    """
    collate, layers, finite = collator(model), len(model.capture.heads), FiniteAttention(model, observer)
    with torch.inference_mode(), model.observed(finite) as watch:

        def observe(group: list[Encoded]) -> Any:
            observer.start(collate(group))
            finite.start(observer.batch)
            model.network(**observer.batch.inputs)
            if watch.calls != layers:
                raise RuntimeError(f"{watch.calls} attention calls in a forward pass, expected {layers}")
            finite.refuse()
            return observer.finish()

        yield observe
