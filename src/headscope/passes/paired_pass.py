"""One pass of several models over a corpus: each later model beside the first.

All models run in lockstep, so that both sides of a comparison are read from the same block while it is in cache. Each
forward pass runs in a thread of its own, which stops after every block until the next one is requested. So memory holds
one block of each model, and only one thread computes at a time.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from queue import SimpleQueue
from threading import Thread
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.models.segment_ids import NAME
from headscope.passes.accumulators import IndexedValues
from headscope.passes.batches import collator
from headscope.passes.observing import FiniteAttention, MeasureObserver
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult
from headscope.statistics.bootstrap import Tally

Modules = Mapping[str, ModuleType]
LayerRows = tuple[int, Rows]


class _Stopped(Exception):
    """Ends an abandoned forward pass."""


class OtherBlocks(RuntimeError):
    """Models compute their attention in different blocks."""


def lockstep(
    models: Sequence[Model], batch: Batch, *, by_ranges: bool = False
) -> Generator[tuple[int, list[Rows]], None, None]:
    """Run one forward pass of each model; yield a layer and the same attention rows of each model at a time.

    Close the iterator if it is not read to the end, else its threads wait until the program ends.

    * `by_ranges`: blocks have only the keys that their queries see; models whose masks differ have different ones.

    Raises `OtherBlocks` if a model yields other blocks than the first, and any error of a forward pass.
    """
    with ExitStack() as running:
        passes = [running.enter_context(closing(blocks(model, batch, by_ranges=by_ranges))) for model in models]
        for (layer, first), *others in zip(*passes, strict=True):
            slices = [(number, *rows.slices) for number, rows in ((layer, first), *others)]
            if any(position != slices[0] for position in slices):
                raise OtherBlocks(f"models show different blocks: {slices}")
            yield layer, [first, *(rows for _, rows in others)]


def blocks(model: Model, batch: Batch, *, by_ranges: bool = False) -> Generator[LayerRows, None, None]:
    """Run one forward pass of a model as an iterator over its layers' blocks of attention; see `lockstep`."""
    computed: SimpleQueue[LayerRows | BaseException | None] = SimpleQueue()
    wanted: SimpleQueue[bool] = SimpleQueue()

    def observe(layer: int, attention: Tensor, examples: slice, queries: slice, *details: Any) -> None:
        computed.put((layer, Rows(attention, batch, examples, queries, *details)))
        if not wanted.get():
            raise _Stopped

    def forward() -> None:
        inputs = dict(batch.inputs)
        if NAME not in model.tokenizer.model_input_names:
            inputs.pop(NAME, None)  # those are the inputs of another model
        try:
            # Inference mode belongs to a thread, and so do the contexts that a forward pass is observed in.
            with torch.inference_mode(), model.observed(finite) as watch:
                model.network(**inputs)
                finite.refuse()
            if watch.calls != (layers := len(model.capture.heads)):
                raise RuntimeError(f"{watch.calls} attention calls in a forward pass, expected {layers}")
            computed.put(None)
        except BaseException as error:
            computed.put(error)

    finite = FiniteAttention(model, observe)
    finite.key_ranges = by_ranges
    finite.start(batch)
    thread = Thread(target=forward, name=f"headscope: {model.name}", daemon=True)
    try:
        thread.start()
        while (block := computed.get()) is not None:
            if isinstance(block, BaseException):
                raise block
            yield block
            wanted.put(True)
    finally:
        wanted.put(False)
        if thread.ident is not None:  # else Ctrl-C came before it ran
            thread.join()


def fold_pairs(
    first: Pass, later: Sequence[Model], measures: Modules, comparisons: Modules, *, own: bool = False
) -> PassResult[dict[str, Tally]]:
    """Tallies of each later model beside the first, from one pass; `compared` lists their names and shapes.

    * `first`: the pass of the first model; its encoder and its padding are those of all models.
    """
    models, collate = (first.model, *later), collator(first.model, first.pad_to)

    def values(group: list[Encoded]) -> IndexedValues:
        batch = collate(group)
        return IndexedValues(batch.unit, compared(models, batch, measures, comparisons, own=own))

    with torch.inference_mode():
        return first.tally(values).read()


def compared(
    models: Sequence[Model], batch: Batch, measures: Modules, comparisons: Modules, *, own: bool = False
) -> dict[str, Values]:
    """The values of one batch, each [example, head, model, ...] with the later models in their order.

    * `NAME` of a comparison; `layer_NAME`, its mean over the heads of each layer [example, layer, model].
    * `difference_NAME` of a measure: the later model's value minus the first's, in examples that have both.
    * `own_NAME` of a measure, if they are wanted (`own`): the values of all models, the first one's first.
    """
    observers = [MeasureObserver(measures) for _ in models]
    pairs = [MeasureObserver(comparisons) for _ in models[1:]]
    try:
        _observe(models, batch, observers, pairs, by_ranges=True)
    except OtherBlocks:  # where masks differ, the keys of one model are not those of the other
        _observe(models, batch, observers, pairs, by_ranges=False)
    measured = [observer.finish() for observer in observers]
    first, *later = measured
    compared_values = [observer.finish() for observer in pairs]
    values = {name: _stacked([value[name] for value in compared_values]) for name in comparisons}
    layers = {f"layer_{name}": _by_layer(values[name], models[0].capture.heads) for name in comparisons}
    changed = {
        f"difference_{name}": _stacked([_difference(values[name], first[name]) for values in later])
        for name in measures
    }
    values_of_all = {
        f"own_{name}": _stacked([by_name[name] for by_name in measured]) for name in (measures if own else ())
    }
    return values | layers | changed | values_of_all


def _observe(
    models: Sequence[Model],
    batch: Batch,
    singles: list[MeasureObserver],
    pairs: list[MeasureObserver],
    *,
    by_ranges: bool,
) -> None:
    """Show each model to its observer of `singles`, and each later one beside the first to that of `pairs`."""
    for observer in (*singles, *pairs):
        observer.start(batch)
    with closing(lockstep(models, batch, by_ranges=by_ranges)) as blocks:
        for layer, rows in blocks:
            for observer, own_rows in zip(singles, rows, strict=True):
                observer.add(layer, own_rows)
            for observer, later_rows in zip(pairs, rows[1:], strict=True):
                observer.add(layer, rows[0], later_rows)


def _stacked(values: list[Values]) -> Values:
    """A statistic of several models, [example, head, model, ...]."""
    return Values(
        torch.stack([value.values for value in values], dim=2), torch.stack([value.valid for value in values], dim=1)
    )


def _difference(later: Values, first: Values) -> Values:
    return Values(later.values - first.values, later.valid & first.valid)


def _by_layer(values: Values, heads: tuple[int, ...]) -> Values:
    means = [part.mean(1) for part in values.values.split(heads, dim=1)]
    return Values(torch.stack(means, dim=1), values.valid)
