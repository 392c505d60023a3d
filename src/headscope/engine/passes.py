"""One pass of a model over a corpus: batches in; tallies or observations, coverage and attributes out."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from headscope import catalog
from headscope.batch import Batch, Values
from headscope.capture.hidden_states import hidden_states
from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import Words
from headscope.engine.batches import by_length, collator
from headscope.engine.coverage import Coverage
from headscope.engine.observing import BatchObserver, MeasureObserver, observing
from headscope.engine.resampling_buffer import Buffer
from headscope.engine.settings import DEFAULTS, Settings
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.statistics.bootstrap import Tally

Value = TypeVar("Value")
Attributes = dict[str, str | int | float]


@dataclass(frozen=True)
class PassResult(Generic[Value]):
    """The outcome of a pass.

    * `value`: tallies by name, or the list of the observations of each batch.
    * `coverage`: counts of the inputs that were read.
    * `attributes`: `n_examples`, `n_tokens`, `skipped`, `duration_s`, and `interrupted` after Ctrl-C.
    """

    value: Value
    coverage: Coverage
    attributes: Attributes


@dataclass(frozen=True)
class Pass:
    """A pass of a model over a corpus.

    * `words`: the encoder of examples, which counts those that are left out or cut; by default one without
      alignment of words and tokens, up to the model's limit.
    * `pad_to`: the length to which shorter inputs will be padded.

    After Ctrl-C the result is that of the inputs which were done, if `settings.keep_interrupted` and there are any.

    Raises `HeadscopeError` if no example fits into the model.

    >>> from headscope import load, read
    >>> from headscope.corpora import Options
    >>> result = Pass(load("minilm"), read("sample", Options(limit=4))).measure(["entropy"])
    >>> result.value["entropy"].mean.shape, result.coverage.inputs
    ((72,), 4)
    """

    model: Model
    corpus: Corpus
    settings: Settings = DEFAULTS
    words: Words | None = None
    pad_to: int = 0

    def measure(self, names: Iterable[str]) -> PassResult[dict[str, Tally]]:
        """Tallies of measures by name; heads of all layers stand in a row, layer by layer."""
        return self.collect(MeasureObserver({name: catalog.load("measures", name) for name in names}))

    def collect(
        self,
        observer: BatchObserver[dict[str, Values]],
        on_batch: Callable[[list[Encoded]], None] = lambda group: None,
    ) -> PassResult[dict[str, Tally]]:
        """Tallies, by name, of the values of each batch; `on_batch` is called after each batch with its inputs."""
        buffer = Buffer(self.settings.seed, self.settings.resamples)
        with self.reading() as reading, observing(self.model, observer) as observe:
            for group in reading:
                values = observe(group)
                buffer.add(observer.batch.index, values)
                on_batch(group)
        return reading.result(buffer.flush())

    def gather(self, observer: BatchObserver[Value]) -> PassResult[list[Value]]:
        """The observations of each batch, in the order of the pass, which is not that of the corpus."""
        observations: list[Value] = []
        with self.reading() as reading, observing(self.model, observer) as observe:
            for group in reading:
                observations.append(observe(group))
        return reading.result(observations)

    def visit_states(
        self, visit: Callable[[Batch, Float[Tensor, "space example token width"]], None]
    ) -> PassResult[None]:
        """Call `visit` with each batch and its hidden states: the embeddings, then the output of each layer."""
        collate = collator(self.model)
        with self.reading() as reading, torch.inference_mode():
            for group in reading:
                batch = collate(group)
                visit(batch, torch.stack(hidden_states(self.model.network, batch.inputs)))
        return reading.result(None)

    @contextmanager
    def reading(self) -> Iterator["CorpusReading"]:
        """The inputs in groups, for passes that need another kind of forward pass; ends in peace on Ctrl-C."""
        words = self.words or Words(self.model.tokenizer, self.model.max_tokens, self.settings.long)
        reading = CorpusReading(self.corpus, self.settings, words, self.pad_to)
        try:
            yield reading
        except KeyboardInterrupt:
            if not (self.settings.keep_interrupted and reading.coverage.inputs):
                raise
            reading.interrupted = True


@dataclass
class CorpusReading:
    """The inputs of a corpus in groups, one for each batch; an iteration counts each group once it is done."""

    corpus: Corpus
    settings: Settings
    words: Words
    pad_to: int
    coverage: Coverage = field(default_factory=Coverage)
    started: float = field(default_factory=time.monotonic)
    interrupted: bool = False

    def __iter__(self) -> Iterator[list[Encoded]]:
        inputs = self.words.encode(self.corpus)
        for group in by_length(inputs, self.settings.batch_tokens, self.settings.seed, pad_to=self.pad_to):
            yield group
            self.coverage.add(group)
            self.settings.on_progress(len(group))

    def result(self, value: Value) -> PassResult[Value]:
        """A value with the coverage and attributes of this reading.

        Raises `HeadscopeError` if there were no inputs.
        """
        coverage, total = self.coverage, self.corpus.n_examples
        if not coverage.inputs:
            remedy = "--long truncate or --long window" if self.settings.long == "skip" else "shorter texts"
            raise HeadscopeError(
                f"corpus '{self.corpus.name}': none of its {total} examples fits into {self.words.max_tokens} tokens; "
                f"use {remedy}"
            )
        attributes: dict[str, Any] = {
            "n_examples": coverage.inputs,
            "n_tokens": coverage.tokens,
            "skipped": json.dumps(self.corpus.skipped | self.words.counts),
            "duration_s": round(time.monotonic() - self.started, 3),
        }
        if self.interrupted:
            attributes = {"interrupted": f"after {coverage.inputs} of {total} examples"} | attributes
        return PassResult(value, coverage, attributes)
