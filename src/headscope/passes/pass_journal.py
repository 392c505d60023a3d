"""Checkpoints of the passes of a run, in a folder: the same run, started again, goes on from the last of them.

Each pass has a file of lines as of `storage.lines`: first what its numbers depend on, then the merged state of the
shards that are done. The next checkpoint replaces the file; of a state that is a list it adds a line with the new
items. So the folder is bounded by the states of the passes, whatever their number of checkpoints.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from headscope.passes.shards import Fold, ReadShards
from headscope.storage.codec import decode, encode
from headscope.storage.files import remove, remove_unfinished, writing
from headscope.storage.hashes import Fingerprint, difference
from headscope.storage.lines import Record, append_line, line_of, read_lines, replace_lines

State = TypeVar("State")
# Least seconds between checkpoints, and how many times the cost of one they are apart at least.
SECONDS, TIMES = 5.0, 100
FORMAT = "checkpoint of a pass"


class Fingerprinted(Protocol):
    """A reader of a corpus, whose fingerprint says what its numbers depend on."""

    def fingerprint(self) -> Fingerprint: ...


@dataclass
class PassJournal:
    """The checkpoints of a run, whose passes over corpora always come in the same order.

    * `folder`: made at the first checkpoint; a run of a few seconds writes none.
    * `run`: what the numbers of all passes depend on.
    * `kept`: whether the checkpoints outlive the result, and so are written at the end of each pass, too.
    * `silent`: whether nothing is said of a pass that goes on from a checkpoint, as in a survey.
    """

    folder: Path
    run: Mapping[str, str | int]
    kept: bool = False
    silent: bool = False
    passes: int = 0
    saved: float = field(default_factory=time.monotonic)
    cost: float = 0.0

    def begin(
        self, reader: "Fingerprinted", fold: Fold[State], on_notice: Callable[[str], None]
    ) -> "Checkpoints[State]":
        """The checkpoints of the next pass.

        * `reader`: knows what its numbers depend on beside `run`.
        * `on_notice`: called with one line when the pass goes on from a checkpoint, or starts anew.
        """
        self.passes += 1
        path, fingerprint = self.folder / f"pass-{self.passes}", {**self.run, **reader.fingerprint()}
        remove_unfinished(path)
        return Checkpoints(self, path, fingerprint, fold, on_notice)

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint: all of them take less than 1% of a long run."""
        return time.monotonic() - self.saved >= max(SECONDS, TIMES * self.cost)

    @property
    def next_arrays(self) -> Path:
        """The folder of the arrays of the next pass."""
        return self.folder / f"arrays-{self.passes + 1}"

    def remove(self) -> None:
        """Remove the checkpoints, once the result is written."""
        remove(self.folder)


class NoCheckpoints(Generic[State]):
    """A pass that keeps nothing."""

    def __init__(self, fold: Fold[State]):
        self.nothing: ReadShards[State] = ReadShards(fold.start().state())
        self.restored = self.nothing

    def begin_anew(self, reason: str) -> None:
        """There is nothing to begin anew."""

    def save(self, part: ReadShards[State], *, at_once: bool = False) -> None:
        """Keep nothing."""

    def finish(self, part: ReadShards[State]) -> None:
        """Keep nothing."""


class Checkpoints(NoCheckpoints[State]):
    """The checkpoints of one pass.

    * `restored`: the shards that are done, by the file; an empty part where there is none.
    """

    def __init__(
        self,
        journal: PassJournal,
        path: Path,
        fingerprint: Fingerprint,
        fold: Fold[State],
        on_notice: Callable[[str], None],
    ):
        super().__init__(fold)
        self.journal, self.path, self.fingerprint, self.fold = journal, path, fingerprint, fold
        self.on_notice = on_notice
        self.items = 0  # of a list, that are in the file
        if path.exists():
            self._restore()
        self.shards = self.restored.shards

    def begin_anew(self, reason: str) -> None:
        """Forget the part in the file, and say why."""
        self.restored, self.shards, self.items = self.nothing, 0, 0
        self.on_notice(f"'{self.path}' {reason}; the pass starts anew")

    def save(self, part: ReadShards[State], *, at_once: bool = False) -> None:
        """Keep a part, if it is time for a checkpoint or it must be (`at_once`).

        Raises `HeadscopeError` if it cannot be written; the last checkpoint is kept.
        """
        if part.shards > self.shards and (at_once or self.journal.due):
            self._write(part)
        if at_once and part.shards:
            kept = f"{part.coverage.inputs:,} inputs are kept in '{self.path}'"
            self.on_notice(f"{kept}; start the same command again to go on from there")

    def finish(self, part: ReadShards[State]) -> None:
        """Keep the whole pass in a journal that is kept, or if its state has files: computing from them takes time."""
        if (self.journal.kept or self.fold.files is not None) and part.shards > self.shards:
            self._write(part)

    def _write(self, part: ReadShards[State]) -> None:
        started, items = time.monotonic(), self.items
        state: Any = part.state
        if self.fold.listed:
            part, self.items = replace(part, state=state[items:]), len(state)
        line = line_of({"items": items, "part": encode(part)})
        if items:
            with writing(self.path, resumable=True), self.path.open("ab", buffering=0) as file:
                append_line(self.path, file, line)
        else:
            replace_lines(self.path, [line_of({"headscope": FORMAT, "run": self.fingerprint}), line])
        self.shards, self.journal.saved = part.shards, time.monotonic()
        self.journal.cost = self.journal.saved - started

    def _restore(self) -> None:
        """Go on from the part in the file, or say why not."""
        records = read_lines(self.path)
        try:
            if reason := self._misfit(next(records, None)):
                raise ValueError(reason)
            restored = self._part(record for record in records if record)
            self.fold.refuse_damaged(restored.state)
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            self.begin_anew(str(error))
        else:
            self.restored = restored
            done = f"{self.restored.coverage.inputs:,} inputs are done"
            if not self.journal.silent:
                self.on_notice(f"{done} by '{self.path}'; the pass goes on from there")

    def _misfit(self, first: Record | None) -> str:
        """Why the checkpoints cannot be used; "" if they can."""
        if first is None or first.get("headscope") != FORMAT:
            return "is damaged"
        changed = difference(first["run"], self.fingerprint)
        return changed and f"was begun with {changed}"

    def _part(self, records: Iterator[Record]) -> ReadShards[State]:
        """The part of the last record; of a list, the items of all records that follow each other."""
        part, state = None, []
        for record in records:
            if record["items"] == self.items:
                part = decode(record["part"], ReadShards[self.fold.kind])
                state += part.state if self.fold.listed else []
                self.items = len(state)
        if part is None or not part.is_sound():
            raise ValueError("is damaged")
        return replace(part, state=state) if self.fold.listed else part
