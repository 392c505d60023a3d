"""The first pass of a study, found by running the study up to it: there it stops, and says what it reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headscope.corpora import Corpus
from headscope.passes.observing import RowsObserver
from headscope.passes.pass_journal import PassJournal
from headscope.passes.settings import Settings
from headscope.passes.shard_reader import ShardReader
from headscope.passes.shards import Fold, ReadShards

ALIGNED = "words"  # of a fingerprint: whether inputs say which tokens their words have


@dataclass(frozen=True)
class AskedPass:
    """A pass that has not begun: who reads, how states are made, and the journal of the study."""

    reader: ShardReader[Any]
    fold: Fold[Any]
    journal: PassJournal

    def reads(self) -> tuple[object, ...]:
        """What studies that share a pass have in common: the network, and all that numbers and shards depend on."""
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
