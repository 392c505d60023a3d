"""One pass of several models over a corpus: each later model beside the first.

All models run in lockstep, so that both sides of a comparison are read from the same block while it is in cache.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from types import ModuleType

import torch

from headscope.encoding.batch import Batch, Values
from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.passes.accumulators import IndexedValues
from headscope.passes.batches import collator
from headscope.passes.observing import MeasureObserver
from headscope.passes.passes import Pass, PassResult
from headscope.statistics.bootstrap import Tally
from headscope.studies.compare.lockstep import lockstep

Modules = Mapping[str, ModuleType]


def fold_pairs(
    first: Pass, later: Sequence[Model], measures: Modules, comparisons: Modules
) -> PassResult[dict[str, Tally]]:
    """Tallies of each later model beside the first, from one pass; `compared` lists their names and shapes.

    * `first`: the pass of the first model; its encoder and its padding are those of all models.
    """
    models, collate = (first.model, *later), collator(first.model, first.pad_to)

    def values(group: list[Encoded]) -> IndexedValues:
        batch = collate(group)
        return batch.unit, compared(models, batch, measures, comparisons)

    with torch.inference_mode():
        return first.tally(values)


def compared(models: Sequence[Model], batch: Batch, measures: Modules, comparisons: Modules) -> dict[str, Values]:
    """The values of one batch, each [example, head, model, ...] with the later models in their order.

    * `NAME` of a comparison; `layer_NAME`, its mean over the heads of each layer [example, layer, model].
    * `difference_NAME` of a measure: the later model's value less the first's, in examples that have both.
    """
    own = [MeasureObserver(measures) for _ in models]
    pairs = [MeasureObserver(comparisons) for _ in models[1:]]
    for observer in (*own, *pairs):
        observer.start(batch)
    with closing(lockstep(models, batch)) as blocks:
        for layer, rows in blocks:
            for observer, own_rows in zip(own, rows, strict=True):
                observer.add(layer, own_rows)
            for observer, later_rows in zip(pairs, rows[1:], strict=True):
                observer.add(layer, rows[0], later_rows)
    first, *later = [observer.finish() for observer in own]
    compared_values = [observer.finish() for observer in pairs]
    values = {name: _stacked([each[name] for each in compared_values]) for name in comparisons}
    layers = {f"layer_{name}": _by_layer(values[name], models[0].capture.heads) for name in comparisons}
    changed = {
        f"difference_{name}": _stacked([_difference(each[name], first[name]) for each in later]) for name in measures
    }
    return values | layers | changed


def _stacked(values: list[Values]) -> Values:
    """A statistic of several models, [example, head, model, ...]."""
    return Values(
        torch.stack([each.values for each in values], dim=2), torch.stack([each.valid for each in values], dim=1)
    )


def _difference(later: Values, first: Values) -> Values:
    return Values(later.values - first.values, later.valid & first.valid)


def _by_layer(values: Values, heads: tuple[int, ...]) -> Values:
    means = [part.mean(1) for part in values.values.split(heads, dim=1)]
    return Values(torch.stack(means, dim=1), values.valid)
