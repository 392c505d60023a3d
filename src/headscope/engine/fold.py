"""One pass over a corpus: inputs go in, one merged tally for each measure comes out.

Maps are never kept: each block of attention rows goes to every measure while it is in cache, and what
measures read off it is finished into values for each example at the end of a batch.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, Protocol

import torch
from torch import Tensor

from headscope.batch import Batch, Rows, Values
from headscope.encoding.encoded import Encoded, class_exists
from headscope.engine.batches import by_length, collate
from headscope.engine.resampling_buffer import Buffer
from headscope.engine.settings import DEFAULTS, Settings
from headscope.models import Model
from headscope.statistics.bootstrap import Tally


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a pass; `tallies` are those of the inputs that were done, or whatever the pass gives."""

    def __init__(self, tallies: Any):
        super().__init__()
        self.tallies = tallies


class Reader(Protocol):
    """An observer that is told of each batch before the model reads it."""

    batch: Batch

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        ...

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None, /
    ) -> None:
        """See `Observer`."""
        ...


class Finisher(Reader, Protocol):
    """A reader that is asked after each batch what it has seen."""

    def finish(self) -> dict[str, Values]:
        """The values of the batch's examples, by name; heads of all layers in a row."""
        ...


class Collector:
    """An observer that keeps what each measure reads off each block of the current batch, by measure and layer."""

    batch: Batch
    observed: dict[str, dict[int, list[Tensor]]]

    def __init__(self, measures: Mapping[str, ModuleType]):
        self.measures = measures

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch, self.observed = batch, defaultdict(lambda: defaultdict(list))

    def __call__(
        self, layer: int, attention: Tensor, examples: slice, queries: slice, scores: Tensor | None = None
    ) -> None:
        """See `Observer`."""
        self.add(layer, Rows(attention, self.batch, examples, queries, scores))

    def add(self, layer: int, *rows: Rows) -> None:
        """Read a block: the rows of one model, or the same rows of two.

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
        """Each measure's values, heads of all layers in a row."""
        return {name: measure.finish(self._joined(name), self.batch) for name, measure in self.measures.items()}

    def _joined(self, name: str) -> Tensor:
        layers = self.observed[name]
        return torch.cat([torch.cat(layers[layer]) for layer in sorted(layers)], dim=1)


def fold(
    model: Model,
    inputs: Iterable[Encoded],
    measures: Mapping[str, ModuleType],
    settings: Settings = DEFAULTS,
    progress: Callable[[list[Encoded]], None] = lambda group: None,
) -> dict[str, Tally]:
    """The tally of each measure over all inputs; heads of all layers stand in a row, layer by layer.

    `progress` is told each batch that is done. The tallies of several passes over parts of a corpus add up
    to that of a pass over the whole: they are plain arrays and can be pickled.

    Raises `Interrupted` on Ctrl-C.
    """
    return collect(model, inputs, Collector(measures), settings, progress)


def collect(
    model: Model,
    inputs: Iterable[Encoded],
    reader: Finisher,
    settings: Settings = DEFAULTS,
    progress: Callable[[list[Encoded]], None] = lambda group: None,
) -> dict[str, Tally]:
    """As `fold`, with any reader: the tallies are of what it finishes."""
    buffer = Buffer(settings.seed, settings.resamples)

    def done(group: list[Encoded]) -> None:
        buffer.add(reader.batch.index, reader.finish())
        progress(group)

    try:
        show(model, inputs, reader, settings, done)
    except KeyboardInterrupt:
        raise Interrupted(buffer.flush()) from None
    return buffer.flush()


def show(
    model: Model, inputs: Iterable[Encoded], reader: Reader, settings: Settings, done: Callable[[list[Encoded]], None]
) -> None:
    """One pass over all inputs; `done` is told of each batch once the reader has seen all of its attention."""
    exists, pad = class_exists(model.tokenizer), model.tokenizer.pad_token_id
    pad, layers = pad if isinstance(pad, int) else 0, len(model.capture.heads)
    with torch.inference_mode(), model.observed(reader) as watch:
        for group in by_length(inputs, settings.batch_tokens, settings.seed):
            reader.start(collate(group, pad=pad, class_exists=exists, device=model.device))
            model.network(**reader.batch.inputs)
            if watch.calls != layers:
                raise RuntimeError(f"{watch.calls} attention calls in a forward pass, expected {layers}")
            done(group)
