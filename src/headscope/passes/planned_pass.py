"""A pass of a model over a corpus, shard by shard: read by this process, or by several."""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Generic

from headscope.cluster.channel import Json, TaskChannel, Tasks, no_piece
from headscope.corpora import Corpus
from headscope.corpora.stream import Stream
from headscope.encoding.encoder import Words
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.models import Model
from headscope.passes.batches import by_length
from headscope.passes.coverage import Coverage, unknown_line
from headscope.passes.provenance import of_pass
from headscope.passes.read_parts import parts_by_workers, read_parts
from headscope.passes.settings import Settings
from headscope.passes.shards import (
    Accumulator,
    Fold,
    OpenShard,
    ReadShards,
    State,
    shard_size,
    shards_of,
    shards_together,
)
from headscope.storage.codec import encode
from headscope.storage.hashes import Fingerprint
from headscope.storage.kept_inputs import return_freed_memory

Attributes = dict[str, Any]


@dataclass(frozen=True)
class PassResult(Generic[State]):
    """The outcome of a pass: tallies by name, or the observations of each batch, and what was read.

    * `attributes`: `n_examples`, `n_tokens`, `skipped`, `duration_s`, and `interrupted` after Ctrl-C.
    """

    value: State
    coverage: Coverage
    attributes: Attributes


@dataclass
class PlannedPass(Generic[State]):
    """A pass that has not begun; it is read by itself, or together with those of other studies.

    * `words`: its `counts` are those of all shards that were read, and of the open one.
    * `sum`, `open`: the shards that are being added up, and the one that is read, so that Ctrl-C loses nothing of them.
    """

    model: Model
    corpus: Corpus
    words: Words
    settings: Settings
    fold: Fold[State]
    pad_to: int = 0
    sum: ReadShards[State] = field(init=False)
    open: OpenShard[State] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.size = shard_size(self.corpus.n_examples, self.corpus.text_bytes)
        self.together = 1 if self.fold.listed else shards_together(self.corpus.n_examples, self.size)
        self.nothing = self.sum = ReadShards(self.fold.start().state())
        self.counted_before = Counter(self.words.counts)
        self.words = replace(self.words, by_document=self.corpus.by_document)

    @property
    def n_parts(self) -> int:
        """How many sums of neighbouring shards there are; a checkpoint may follow each."""
        return -(-self.corpus.n_examples // (self.together * self.size))

    def read(self) -> PassResult[State]:
        """Read the corpus, from the last checkpoint on.

        After Ctrl-C the result is that of the inputs which were done, if `keep_interrupted` is set and there are any.

        Raises `HeadscopeError` if no example fits into the model, or half of the tokens are unknown.
        """
        total, interrupted = read_parts(self, self.fold, self.settings)
        self.corpus.refuse_changed()
        self.model.refuse_changed()
        attributes = self._attributes(total.coverage) | {"duration_s": round(total.seconds, 3)}
        if interrupted:
            last = f"after {total.coverage.inputs} of {self.corpus.n_examples} examples"
            attributes = {"interrupted": last} | attributes
        return PassResult(total.state, total.coverage, attributes)

    def _attributes(self, coverage: Coverage) -> Attributes:
        name, examples, counts = self.corpus.name, self.corpus.n_examples, self.words.counts
        if not coverage.inputs and 0 < counts["empty"] == examples:
            raise HeadscopeError(
                f"corpus '{name}': the tokenizer finds no token in its texts ({examples}), as in zero-width blanks; "
                "check them"
            )
        if not coverage.inputs:
            remedy = "--long truncate or --long window" if self.settings.long == "skip" else "shorter texts"
            raise HeadscopeError(
                f"corpus '{name}': none of its {examples} examples fits into {self.words.max_tokens} tokens; "
                f"use {remedy}"
            )
        sizes = {"n_examples": coverage.inputs, "n_tokens": coverage.tokens, "resampled": self.corpus.resampled}
        attributes = sizes | {"skipped": json.dumps(self.corpus.skipped | counts)}
        unknown = unknown_line(name, self.words.tokenizer, counts["unknown tokens"], coverage.tokens, coverage.inputs)
        if unknown:
            self.settings.on_notice(unknown)
        return attributes | ({"unknown_tokens": unknown} if unknown else {})

    def fingerprint(self) -> Fingerprint:
        """Model, corpus, settings and machine, and how the corpus is cut into inputs and shards."""
        inputs = {"max_tokens": self.words.max_tokens, "words": self.words.aligned, "pad_to": self.pad_to}
        inputs |= {"examples of a shard": self.size, "shards together": self.together}
        inputs |= {"piece counts": self.words.frequencies.sha256} if self.words.frequencies else {}
        inputs |= {"predicted counts": self.words.predicted.sha256} if self.words.predicted else {}
        return of_pass(self.model, self.corpus, self.settings) | inputs

    def parts(self, done: ReadShards[State]) -> Generator[ReadShards[State]]:
        """The sums of neighbouring shards after those that are done, one after the other."""
        self.words.counts.clear()
        self.words.counts.update(self.counted_before)
        left_out = self.words.left_out
        self.words.counts.update(done.counts)
        if done.shards:
            self.settings.on_progress(done.coverage.inputs + self.words.left_out - left_out)
        return self._by_workers(done) if self.settings.in_parts else self._here(done)

    def unfinished(self) -> ReadShards[State]:
        """The shards of an open sum, and what was read of the open shard."""
        return self.sum.plus(self.open.part(0), self.fold.merge) if self.open else self.sum

    def _here(self, done: ReadShards[State]) -> Generator[ReadShards[State]]:
        first, rest = done.coverage.inputs, shards_of(self.corpus.since(done.shards * self.size), self.size)
        while (part := self._read(islice(rest, self.together), first, self.settings, self.fold.start)).shards:
            first += part.coverage.inputs
            yield part

    def _by_workers(self, done: ReadShards[State]) -> Generator[ReadShards[State]]:
        """The sums as other processes have made them, with the same bits for any number of processes."""
        size = self.together * self.size
        numbers = range(done.shards // self.together, self.n_parts)
        source, files = _Slices(self.corpus, size), self.fold.files
        if self.n_parts < self.settings.workers:
            line = f"'{self.corpus.name}' is too small for {self.settings.workers} workers"
            self.settings.on_notice(f"{line}; use --workers {self.n_parts}")

        def do(number: int, channel: TaskChannel) -> Json:
            self.words.counts.clear()
            examples = source.examples(number)
            first = channel.preceding(self._inputs(examples))
            settings = replace(self.settings, on_progress=channel.progress)
            start = partial(files.sending, channel) if files and self.settings.in_worker else self.fold.start
            return encode(self._read(shards_of(examples, self.size), first, settings, start))

        tasks = Tasks(
            do,
            numbers,
            "shard" if self.together == 1 else f"part (of {self.together} shards)",
            self.fingerprint,
            self.settings.on_progress,
            preceding=done.coverage.inputs,
            on_piece=files.receive if files else no_piece,
        )
        with closing(parts_by_workers(tasks, self.settings, self.model.device, self.fold)) as parts:
            for part in parts:
                self.words.counts.update(part.counts)
                yield part

    def _inputs(self, examples: list[Example]) -> int:
        """The number of inputs that some examples have; numbers of inputs count on over the shards."""
        tokenized = replace(self.words, counts=Counter()).tokenized(examples)
        return sum(len(encodings) for _, encodings in tokenized)

    def _read(
        self,
        parts: Iterable[Iterable[Example]],
        first: int,
        settings: Settings,
        start: Callable[[], Accumulator[State]],
    ) -> ReadShards[State]:
        """The sum of some shards; `first` is the number of their first input, `start` makes their accumulators."""
        for examples in parts:
            self.open = OpenShard(start(), self.words.counts, causal=not self.model.capture.looks_ahead)
            before, left_out = first + self.sum.coverage.inputs, self.words.left_out
            inputs = self.words.encode(examples, before)
            for group in by_length(inputs, settings.batch_tokens, settings.seed, pad_to=self.pad_to):
                self.open.add(group)
                settings.on_progress(len(group))
            if self.words.left_out > left_out:
                settings.on_progress(self.words.left_out - left_out)
            self.sum, self.open = self.sum.plus(self.open.part(1), self.fold.merge), None
            return_freed_memory()
        part, self.sum = self.sum, self.nothing
        return part


class _Slices:
    """Slices of a corpus by their numbers; the text between them is skipped where the corpus has marks."""

    def __init__(self, corpus: Corpus, size: int):
        self.corpus, self.size, examples = corpus, size, corpus.again()
        self.stream = examples if isinstance(examples, Stream) else None

    def examples(self, number: int) -> list[Example]:
        """The examples of a slice."""
        if self.stream is None:
            return list(islice(self.corpus.since(number * self.size), self.size))
        self.stream.go(number * self.size)
        return list(islice(self.stream, self.size))
