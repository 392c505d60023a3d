"""One pass of a model over a corpus: batches in; tallies or observations, coverage and attributes out."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, get_type_hints

import xarray as xr

from headscope import results
from headscope.corpora import Corpus
from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.models import Model
from headscope.passes.accumulators import IndexedValues, ListAccumulator, TallyAccumulator, added
from headscope.passes.forward import Forward
from headscope.passes.measures import Measure, together
from headscope.passes.observing import BatchObserver, MeasureObserver
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.provenance import provenance
from headscope.passes.settings import DEFAULTS, Settings, fitting
from headscope.passes.shards import Fold, State
from headscope.results.variables import label
from headscope.statistics.bootstrap import Tally

Value = TypeVar("Value")


@dataclass(frozen=True)
class Pass:
    """The inputs of a pass of a model over a corpus.

    * `words`: the encoder of examples, which counts those that are left out or cut; by default one without
      alignment of words and tokens, up to the model's limit.
    * `pad_to`: the length to which shorter inputs will be padded.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = Pass(load("minilm"), read("sample", Options(limit=4))).measure(["entropy"]).read()
    >>> result.value["entropy"].mean.shape, result.coverage.inputs
    ((72,), 4)
    """

    model: Model
    corpus: Corpus
    settings: Settings = DEFAULTS
    words: Words | None = None
    pad_to: int = 0

    def measure(self, names: Iterable[str]) -> PlannedPass[dict[str, Tally]]:
        """Tallies of measures by name; heads of all layers are in one row, layer by layer."""
        return self.collect(MeasureObserver(together(names, ())))

    def collect(self, observer: BatchObserver[dict[str, Values]]) -> PlannedPass[dict[str, Tally]]:
        """Tallies, by name, of the values of each batch."""
        forward = Forward(self.model, observer)

        def values(group: list[Encoded]) -> IndexedValues:
            observed, check = forward.soon(group)
            return IndexedValues(observer.batch.unit, observed, check)

        return self.tally(values, forward)

    def tally(
        self, values: Callable[[list[Encoded]], IndexedValues], forward: Forward[Any] | None = None
    ) -> PlannedPass[dict[str, Tally]]:
        """Tallies, by name, of the values that a function reads off each batch, beside the units of its inputs."""
        start = partial(TallyAccumulator, values, self.settings.seed, self.settings.resamples)
        return self.fold(Fold(start, added, dict[str, Tally], forward=forward))

    def gather(self, observer: BatchObserver[Value]) -> PlannedPass[list[Value]]:
        """The observations of each batch, in the order of the pass, which is not that of the corpus.

        The type that `observer.finish` is annotated with is that of the observations in a journal.
        """
        kind = get_type_hints(type(observer).finish)["return"]
        forward = Forward(self.model, observer)
        start = partial(ListAccumulator, forward.observe)
        return self.fold(Fold(start, operator.add, list[kind], listed=True, forward=forward))

    def fold(self, fold: Fold[State]) -> PlannedPass[State]:
        """The merged state of all shards; for passes with another kind of forward pass, or of state."""
        words = self.words or Words(self.model.tokenizer, self.model.max_tokens, self.settings.long)
        return PlannedPass(self.model, self.corpus, words, self.settings, fold, self.pad_to)


def measuring(
    model: Model,
    corpus: Corpus,
    measures: Iterable[str],
    settings: Settings,
    *,
    further: Iterable[Measure] = (),
    words: Words | None = None,
) -> PlannedPass[dict[str, Tally]]:
    """The pass of a study that consists of measures: see `measure`."""
    observer = MeasureObserver(together(measures, further))
    return Pass(model, corpus, fitting(settings, model), words).collect(observer)


def measure(
    study: str,
    model: Model,
    corpus: Corpus,
    measures: Iterable[str],
    settings: Settings = DEFAULTS,
    *,
    further: Iterable[Measure] = (),
    words: Words | None = None,
) -> xr.Dataset:
    """The result of a study that consists of measures: one pass over the corpus.

    * `measures`: names of the catalog; `further`: measures of a user's own; `words`: see `Pass`.

    Raises `HeadscopeError` if no example fits into the model, or two measures have one name.
    """
    planned = measuring(model, corpus, measures, settings, further=further, words=words)
    attributes = provenance(study, model, corpus, planned.settings)
    observer: Any = planned.fold.forward and planned.fold.forward.observer
    result = planned.read()
    if observer.needs_map and model.device.type == "cuda":
        settings.on_notice(f"attention is read from maps, in blocks: {observer.needs_map}")
    variables = {}
    for name, part in observer.measures.items():
        variables |= label(part.VARIABLE, result.value[name], model.capture.heads)
    return results.check(xr.Dataset(variables | result.coverage.variables(), attrs=attributes | result.attributes))
