"""The parts of a corpus, shard by shard: read by this process, or by several."""

from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Generic

from headscope.corpora import Corpus
from headscope.encoding.encoder import Words
from headscope.engine import shards
from headscope.engine.fingerprint import of_pass
from headscope.engine.read_parts import parts_by_workers
from headscope.engine.settings import Settings
from headscope.engine.shards import Fold, OpenShard, ReadShards, State, groups_of
from headscope.engine.workers.channel import Json, TaskChannel
from headscope.engine.workers.engine import Tasks
from headscope.journal.codec import encode
from headscope.models import Model
from headscope.types import Example


@dataclass
class ShardReader(Generic[State]):
    """Reads a corpus for a fold.

    * `words`: its `counts` are those of all shards that were read, and of the open one.
    * `open`: the shard that is being read, so that Ctrl-C loses nothing of it.
    """

    model: Model
    corpus: Corpus
    words: Words
    settings: Settings
    fold: Fold[State]
    pad_to: int = 0
    open: OpenShard[State] | None = field(default=None, init=False)

    def parts(self, done: ReadShards[State]) -> Generator[ReadShards[State]]:
        """The shards after those that are done, one after the other."""
        return self._by_workers(done) if self.settings.in_parts else self._here(done)

    def unfinished(self) -> ReadShards[State] | None:
        """What was read of the open shard."""
        return self.open.part(0) if self.open else None

    def _here(self, done: ReadShards[State]) -> Generator[ReadShards[State]]:
        first = done.coverage.inputs
        for examples in shards.shards_of(self.corpus, done.shards):
            part = self._read(examples, first, self.settings)
            first += part.coverage.inputs
            yield part

    def _by_workers(self, done: ReadShards[State]) -> Generator[ReadShards[State]]:
        """The shards as forked processes have read them, with the same bits for any number of processes."""
        numbers = range(done.shards, -(-self.corpus.n_examples // shards.EXAMPLES))
        source = _ShardSource(self.corpus)

        def do(number: int, channel: TaskChannel) -> Json:
            self.words.counts.clear()
            examples = source.examples(number)
            first = channel.preceding(self._inputs(examples))
            return encode(self._read(iter(examples), first, replace(self.settings, on_progress=channel.progress)))

        tasks = Tasks(
            do,
            numbers,
            "shard",
            lambda: of_pass(self.model, self.corpus, self.settings),
            self.settings.on_progress,
            preceding=done.coverage.inputs,
        )
        with closing(parts_by_workers(tasks, self.settings, self.model.device, self.fold)) as parts:
            for part in parts:
                self.words.counts.update(part.counts)
                yield part

    def finish(self, total: ReadShards[State]) -> None:
        """Keep the total of all shards for workers."""
        if self.settings.engine is not None:
            self.settings.engine.finish(lambda: encode(total))

    def _inputs(self, examples: list[Example]) -> int:
        """The number of inputs that some examples have; numbers of inputs count on over the shards."""
        tokenized = replace(self.words, counts=Counter()).tokenized(examples)
        return sum(len(encodings) for _, encodings in tokenized)

    def _read(self, examples: Iterator[Example], first: int, settings: Settings) -> ReadShards[State]:
        self.open = OpenShard(self.fold.start(), self.words.counts)
        for group in groups_of(examples, self.words, settings, first=first, pad_to=self.pad_to):
            self.open.add(group)
            settings.on_progress(len(group))
        part, self.open = self.open.part(1), None
        return part


class _ShardSource:
    """The examples of shards by their numbers, which mostly increase: the corpus is read once, as far as needed."""

    def __init__(self, corpus: Corpus):
        self.corpus, self.rest, self.next = corpus, iter(()), 0

    def examples(self, number: int) -> list[Example]:
        """The examples of a shard."""
        if number < self.next or self.next == 0:
            self.rest, self.next = iter(self.corpus), 0
        skipped = (number - self.next) * shards.EXAMPLES
        self.next = number + 1
        return list(islice(self.rest, skipped, skipped + shards.EXAMPLES))
