"""A pass in shards: the same examples of a corpus form the same shards everywhere, and their parts add up in order."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from math import inf
from typing import Any, Generic, Protocol, TypeVar

from headscope.cluster.channel import TaskChannel
from headscope.encoding.encoded import Encoded
from headscope.linguistics.sentence import Example
from headscope.passes.coverage import Coverage
from headscope.passes.forward import Forward
from headscope.storage.lines import Record

# Most examples of a shard: inputs are sorted by length within as many.
EXAMPLES = 1024
# A corpus of long texts has smaller shards, of at least this many bytes (some 15 batches), until there are this
# many: several workers share them, and a killed run has lost no more than one of them.
LEAST_BYTES, SHARDS = 2**17, 64

# Of a large corpus, neighbouring shards are added up before their sum is: up to `TOGETHER`, in about `SUMS` sums.
TOGETHER, SUMS = 16, 256

State = TypeVar("State")
Accumulated = TypeVar("Accumulated", covariant=True)


class Accumulator(Protocol[Accumulated]):
    """Accumulates one shard, batch by batch."""

    def add(self, group: list[Encoded], /) -> None:
        """Read a batch of inputs, whole or not at all."""

    def state(self) -> Accumulated:
        """The state of all batches so far, as a journal keeps it: see `storage.codec`."""
        ...


class StateFiles(Protocol[Accumulated]):
    """Files that a state names beside the journal."""

    def sending(self, channel: TaskChannel, /) -> Accumulator[Accumulated]:
        """The accumulator of a shard in a worker on another machine, whose file goes to the coordinator."""
        ...

    def receive(self, task: int, piece: Record, /) -> None:
        """Write a piece of the file of a task, as a worker sent it."""


@dataclass(frozen=True)
class Fold(Generic[State]):
    """How the state of a pass is made.

    * `start`: makes the accumulator of a shard; `merge`: the state of two parts of a corpus, without changing either.
    * `kind`: the type of the state, such as `dict[str, Tally]`.
    * `listed`: whether the state is a list that grows with the corpus.
    * `refuse_damaged`: raises `ValueError` for a state of a journal, right in its types, that cannot be of this pass.
    * `files`: those of a state that has some beside the journal. Such a state is kept at the end of the pass, too.
    * `forward`: the forward passes of the accumulators, where others may share them; None where they have their own.
    """

    start: Callable[[], Accumulator[State]]
    merge: Callable[[State, State], State]
    kind: object
    listed: bool = False
    refuse_damaged: Callable[[State], None] = lambda state: None
    files: StateFiles[State] | None = None
    forward: Forward[Any] | None = None


@dataclass(frozen=True)
class ReadShards(Generic[State]):
    """The state of some shards that follow each other, and the seconds that they took.

    * `coverage`: the inputs that were read; `counts`: those that were left out or cut.
    """

    state: State
    shards: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def is_sound(self) -> bool:
        """Whether there are inputs, and no number of them is negative or infinite."""
        counts = (self.coverage.tokens, self.coverage.log_length, self.seconds, *self.counts.values())
        return min(self.shards, self.coverage.inputs) >= 1 and all(0 <= count < inf for count in counts)

    def plus(self, other: "ReadShards[State]", merge: Callable[[State, State], State]) -> "ReadShards[State]":
        """These shards and those that follow; a part without inputs leaves the state of the other as it is."""
        # the parts of studies that share a pass count shards and texts themselves
        has_parts = isinstance(self.state, tuple) and all(isinstance(part, ReadShards) for part in self.state)
        if (self.coverage.inputs and other.coverage.inputs) or (has_parts and self.shards and other.shards):
            state = merge(self.state, other.state)
        else:
            state = self.state if self.coverage.inputs else other.state
        return ReadShards(
            state,
            self.shards + other.shards,
            self.coverage + other.coverage,
            self.counts + other.counts,
            self.seconds + other.seconds,
        )


@dataclass
class OpenShard(Generic[State]):
    """A shard that is being read: after each batch, the part of the corpus up to it."""

    accumulator: Accumulator[State]
    counting: Counter[str]
    coverage: Coverage = field(default_factory=Coverage)
    started: float = field(default_factory=time.monotonic)
    causal: bool = False

    def __post_init__(self) -> None:
        self.before = Counter(self.counting)

    def add(self, group: list[Encoded]) -> None:
        """Read a batch."""
        self.accumulator.add(group)
        self.coverage.add(group, causal=self.causal)

    def part(self, shards: int) -> ReadShards[State]:
        """What was read: the whole shard (`shards` 1), or its beginning (0)."""
        state, seconds = self.accumulator.state(), time.monotonic() - self.started
        return ReadShards(state, shards, self.coverage, self.counting - self.before, seconds)


def shard_size(examples: int, text_bytes: int) -> int:
    """The number of examples of a shard; it depends on the corpus alone.

    * `text_bytes`: the size of all texts; 0 if it is not known.

    >>> [shard_size(number, 100 * number) for number in (282, 100_000)]
    [1024, 1024]
    >>> [shard_size(number, 2_200 * number) for number in (500, 10_000, 100_000)]
    [59, 157, 1024]
    """
    if not text_bytes:
        return EXAMPLES
    return max(1, min(EXAMPLES, max(examples * LEAST_BYTES // text_bytes, -(-examples // SHARDS))))


def shards_of(examples: Iterable[Example], size: int) -> Iterator[Iterator[Example]]:
    """The examples of each shard; a shard must be read before the next.

    >>> [len(list(shard)) for shard in shards_of(range(2500), 1000)]
    [1000, 1000, 500]
    """
    rest = iter(examples)
    for example in rest:
        yield chain([example], islice(rest, size - 1))


def shards_together(examples: int, size: int) -> int:
    """The number of neighbouring shards whose sum is made first, by one worker; it depends on the corpus alone.

    >>> [shards_together(number, 1024) for number in (1_000, 262_144, 1_000_000, 10_000_000)]
    [1, 1, 4, 16]
    """
    return min(TOGETHER, max(1, -(-examples // (size * SUMS))))
