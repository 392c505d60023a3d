"""One pass of several models over a corpus: what sets each later model apart from the first.

As `fold`, with all models in lockstep: both sides of a comparison are read off the same block while it is in cache.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from types import ModuleType

import torch

from headscope.batch import Batch, Values
from headscope.encoding.encoded import Encoded, class_exists
from headscope.engine.batches import by_length, collate
from headscope.engine.fold import Collector, Interrupted
from headscope.engine.resampling_buffer import Buffer
from headscope.engine.settings import DEFAULTS, Settings
from headscope.models import Model
from headscope.statistics.bootstrap import Tally
from headscope.studies.compare.lockstep import together

Modules = Mapping[str, ModuleType]


def fold_pairs(
    models: Sequence[Model],
    inputs: Iterable[Encoded],
    measures: Modules,
    comparisons: Modules,
    settings: Settings = DEFAULTS,
    progress: Callable[[list[Encoded]], None] = lambda group: None,
    *,
    pad_to: int = 0,
) -> dict[str, Tally]:
    """Tallies of each later model beside the first, all from one pass; see `compared` for their names and shapes.

    `inputs` are those of the tokenizer that the models share, and shorter ones are padded to `pad_to` tokens.

    Raises `Interrupted` on Ctrl-C.
    """
    first = models[0]
    exists, pad = class_exists(first.tokenizer), first.tokenizer.pad_token_id
    pad = pad if isinstance(pad, int) else 0
    buffer = Buffer(settings.seed, settings.resamples)
    try:
        with torch.inference_mode():
            for group in by_length(inputs, settings.batch_tokens, settings.seed, pad_to=pad_to):
                batch = collate(group, pad=pad, class_exists=exists, device=first.device, pad_to=pad_to)
                buffer.add(batch.index, compared(models, batch, measures, comparisons))
                progress(group)
    except KeyboardInterrupt:
        raise Interrupted(buffer.flush()) from None
    return buffer.flush()


def compared(models: Sequence[Model], batch: Batch, measures: Modules, comparisons: Modules) -> dict[str, Values]:
    """The values of one batch, each [example, head, model, ...] with the later models in their order.

    * `NAME` of a comparison; `layer_NAME`, its mean over the heads of each layer [example, layer, model].
    * `difference_NAME` of a measure: the later model's value less the first's, in examples that have both.
    """
    own, pairs = [Collector(measures) for _ in models], [Collector(comparisons) for _ in models[1:]]
    for collector in (*own, *pairs):
        collector.start(batch)
    with closing(together(models, batch)) as blocks:
        for layer, rows in blocks:
            for collector, its in zip(own, rows, strict=True):
                collector.add(layer, its)
            for collector, its in zip(pairs, rows[1:], strict=True):
                collector.add(layer, rows[0], its)
    first, *later = [collector.finish() for collector in own]
    found = [collector.finish() for collector in pairs]
    values = {name: _stacked([each[name] for each in found]) for name in comparisons}
    layers = {f"layer_{name}": _by_layer(values[name], models[0].capture.heads) for name in comparisons}
    changed = {
        f"difference_{name}": _stacked([_difference(each[name], first[name]) for each in later]) for name in measures
    }
    return values | layers | changed


def _stacked(values: list[Values]) -> Values:
    """The same statistic of several models, with models as the dimension after heads."""
    return Values(
        torch.stack([each.values for each in values], dim=2), torch.stack([each.valid for each in values], dim=1)
    )


def _difference(later: Values, first: Values) -> Values:
    return Values(later.values - first.values, later.valid & first.valid)


def _by_layer(values: Values, heads: tuple[int, ...]) -> Values:
    means = [part.mean(1) for part in values.values.split(heads, dim=1)]
    return Values(torch.stack(means, dim=1), values.valid)
