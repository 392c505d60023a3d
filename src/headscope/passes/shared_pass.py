"""One pass for several studies: what each would read of a corpus by itself, read together.

Each study gets its part as a complete checkpoint of its own, and then runs as if it had been stopped right after its
pass. So its numbers, to the last bit, and all that follows are those of the study alone.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from headscope.cluster.channel import TaskChannel
from headscope.corpora import Corpus
from headscope.encoding.encoded import Encoded
from headscope.encoding.encoder import OF_WORDS, Words
from headscope.passes.forward import share
from headscope.passes.observing import RowsObserver
from headscope.passes.pass_journal import PassJournal
from headscope.passes.read_parts import read_parts
from headscope.passes.settings import Settings
from headscope.passes.shard_reader import ShardReader
from headscope.passes.shards import Accumulator, Fold, OpenShard, ReadShards
from headscope.storage.lines import Record

ALIGNED = "words"  # of a fingerprint: whether inputs say which tokens their words have
Parts = tuple[ReadShards[Any], ...]


@dataclass(frozen=True)
class AskedPass:
    """A pass that has not begun: who reads, how states are made, and the journal of the study."""

    reader: ShardReader[Any]
    fold: Fold[Any]
    journal: PassJournal

    def reads(self) -> tuple[object, ...]:
        """The key of a shared pass: the network, and all settings that numbers and shards depend on."""
        fingerprint = {name: value for name, value in self.reader.fingerprint().items() if name != ALIGNED}
        return (id(self.reader.model.network), *sorted(fingerprint.items()))

    def give(self, part: ReadShards[Any]) -> None:
        """Keep what was read as a complete checkpoint of the study."""
        journal = PassJournal(self.journal.folder, self.journal.run, kept=True)
        journal.begin(self.reader, self.fold, lambda line: None).finish(part)


class _Asked(BaseException):
    """Ends a study as its first pass begins."""

    def __init__(self, reader: Any, fold: Fold[Any]):
        self.reader, self.fold = reader, fold


class _AskingJournal(PassJournal):
    """A journal that no pass begins in."""

    def begin(self, reader: Any, fold: Fold[Any], on_notice: Callable[[str], None]) -> Any:
        """Raise `_Asked`."""
        raise _Asked(reader, fold)


def first_pass(run: Callable[[Settings], object], settings: Settings, corpora: Sequence[Corpus]) -> AskedPass | None:
    """The first pass of a study that others can share; None if it has a checkpoint already, or reads inputs of its own.

    * `run`: the study; `settings`: with its journal; `corpora`: those that the study is given.

    Raises `HeadscopeError` where the study does.
    """
    journal = settings.journal
    if journal is None or (journal.folder / "pass-1").exists():
        return None
    asking = _AskingJournal(journal.folder, journal.run)
    quiet = replace(settings, journal=asking, on_progress=_silent, on_total=_silent, on_notice=_silent)
    try:
        run(quiet)
    except _Asked as found:
        if _can_share(found, corpora):
            return AskedPass(found.reader, found.fold, journal)
    return None


def _silent(what: object) -> None:
    """Say nothing."""


def _can_share(found: _Asked, corpora: Sequence[Corpus]) -> bool:
    """Whether a pass reads a corpus as it is given, or a sample with a hash of its own, by a forward pass for all."""
    if not isinstance(found.reader, ShardReader) or found.fold.forward is None:
        return False
    read, observer = found.reader.corpus, found.fold.forward.observer
    given = any(read is corpus for corpus in corpora) or read.sha256 not in {corpus.sha256 for corpus in corpora}
    return given and (observer is None or isinstance(observer, RowsObserver))


def alike(passes: Iterable[AskedPass]) -> list[list[AskedPass]]:
    """The passes that can be shared, of two studies or more each."""
    groups = defaultdict[object, list[AskedPass]](list)
    for asked in passes:
        groups[asked.reads()].append(asked)
    return [group for group in groups.values() if len(group) > 1]


def read_together(passes: Sequence[AskedPass], settings: Settings) -> None:
    """Read once for studies whose passes are `alike`, and give each its part.

    * `settings`: the journal of the shared pass, and its progress.

    Raises `KeyboardInterrupt` after Ctrl-C, when the next call goes on from a checkpoint.
    """
    first, words = passes[0].reader, _words(passes)
    share([asked.fold.forward for asked in passes if asked.fold.forward is not None])
    fold = _joint(passes, words)
    run = replace(first.settings, keep_interrupted=False, journal=settings.journal, engine=settings.engine)
    run = replace(run, on_progress=settings.on_progress, on_notice=settings.on_notice)
    reader = ShardReader(first.model, first.corpus, words, run, fold, first.pad_to)
    total, _ = read_parts(reader, fold, run)
    first.corpus.refuse_changed()
    first.model.refuse_changed()
    if not settings.in_worker:
        for asked, part in zip(passes, total.state, strict=True):
            asked.give(part)


def _words(passes: Sequence[AskedPass]) -> Words:
    """An encoder that aligns words and tokens if any study needs it."""
    encoders = [asked.reader.words for asked in passes]
    return replace(encoders[0], aligned=any(words.aligned for words in encoders), counts=Counter())


def _joint(passes: Sequence[AskedPass], words: Words) -> Fold[Parts]:
    """The fold whose state has the part of each study."""
    folds = [asked.fold for asked in passes]

    def merge(one: Parts, other: Parts) -> Parts:
        return tuple(a.plus(b, fold.merge) for a, b, fold in zip(one, other, folds, strict=True))

    def refuse_damaged(parts: Parts) -> None:
        for part, fold in zip(parts, folds, strict=True):
            fold.refuse_damaged(part.state)

    def start() -> "_SharedShard":
        return _SharedShard(passes, words, [fold.start() for fold in folds])

    kind: Any = tuple[tuple(ReadShards[fold.kind] for fold in folds)]  # type: ignore[misc]
    files = _SharedFiles(passes, words) if any(fold.files for fold in folds) else None
    return Fold(start, merge, kind, refuse_damaged=refuse_damaged, files=files)


class _SharedShard:
    """A shard that each study adds up in its own way, with its own counts of what is left out."""

    def __init__(self, passes: Sequence[AskedPass], words: Words, accumulators: Sequence[Accumulator[Any]]):
        self.words, self.before = words, Counter(words.counts)
        self.aligned = [asked.reader.words.aligned for asked in passes]
        counts = [asked.reader.words.counts for asked in passes]
        self.open = [OpenShard(one, own) for one, own in zip(accumulators, counts, strict=True)]

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        with torch.inference_mode():
            for part in self.open:
                part.add(group)

    def state(self) -> Parts:
        """The part of each study."""
        encoded = self.words.counts - self.before
        of_texts = Counter({reason: count for reason, count in encoded.items() if reason not in OF_WORDS})
        parts = zip(self.open, self.aligned, strict=True)
        return tuple(_counted(one.part(1), encoded if aligned else of_texts) for one, aligned in parts)


def _counted(part: ReadShards[Any], encoded: Counter[str]) -> ReadShards[Any]:
    return replace(part, counts=encoded + part.counts)


@dataclass(frozen=True)
class _SharedFiles:
    """The files of all studies; a piece says whose it is. See `StateFiles`."""

    passes: Sequence[AskedPass]
    words: Words

    def sending(self, channel: TaskChannel) -> _SharedShard:
        """See `StateFiles`."""
        folds = [asked.fold for asked in self.passes]
        started = [
            fold.files.sending(_PartChannel(channel, number)) if fold.files else fold.start()
            for number, fold in enumerate(folds)
        ]
        return _SharedShard(self.passes, self.words, started)

    def receive(self, task: int, piece: Record) -> None:
        """See `StateFiles`."""
        files = self.passes[piece["part"]].fold.files
        if files:
            files.receive(task, {name: value for name, value in piece.items() if name != "part"})


class _PartChannel(TaskChannel):
    """The channel of a shared task for the files of one study."""

    def __init__(self, channel: TaskChannel, number: int):
        super().__init__(channel.connection)
        self.number = number

    def piece(self, **piece: Any) -> None:
        """Send a piece of the file of this study."""
        super().piece(**piece, part=self.number)
