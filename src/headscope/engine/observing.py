"""Forward passes under an observer: one batch at a time.

Maps are never kept: each block of attention rows goes to every measure while it is in cache, and the observed parts
become values of each example at the end of a batch.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from headscope.batch import Batch, Rows, Values
from headscope.encoding.encoded import Encoded
from headscope.engine.batches import collator
from headscope.engine.finite_attention import FiniteAttention
from headscope.models import Model

Observed = TypeVar("Observed", covariant=True)


class BatchObserver(Protocol[Observed]):
    """An observer of one batch after another."""

    batch: Batch

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        ...

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None, /
    ) -> None:
        """See `Observer`."""
        ...

    def finish(self) -> Observed:
        """Return the observations of the batch, once all of its attention was observed."""
        ...


class MeasureObserver:
    """An observer that keeps the parts of each measure for the current batch, by measure and layer."""

    batch: Batch
    observed: dict[str, dict[int, list[Tensor]]]

    def __init__(self, measures: Mapping[str, ModuleType]):
        self.measures = measures

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and prepare for this one."""
        self.batch, self.observed = batch, defaultdict(lambda: defaultdict(list))

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None = None
    ) -> None:
        """See `Observer`."""
        self.add(layer, Rows(attention, self.batch, examples, queries, scores))

    def add(self, layer: int, *rows: Rows) -> None:
        """Observe a block: the rows of one model, or the same rows of two.

        The first block of an example's queries starts a new part, later ones are added to it.
        """
        for name, measure in self.measures.items():
            part = measure.observe(*rows)
            parts = self.observed[name][layer]
            if rows[0].queries.start == 0:
                parts.append(part)
            else:
                parts[-1] = parts[-1] + part

    def finish(self) -> dict[str, Values]:
        """Each measure's values; heads of all layers in a row."""
        return {name: measure.finish(self._joined(name), self.batch) for name, measure in self.measures.items()}

    def _joined(self, name: str) -> Tensor:
        layers = self.observed[name]
        return torch.cat([torch.cat(layers[layer]) for layer in sorted(layers)], dim=1)


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
