"""Checkpoints of the passes of a run, in the folder of its journal.

Each pass has a file of lines as of `storage.lines`: first what its numbers depend on, then the merged state of the
shards that are done. The next checkpoint replaces the file; of a state that is a list it adds a line with the new
items. So the folder is bounded by the states of the passes, whatever their number of checkpoints.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Generic

from headscope.passes.settings import PassJournal
from headscope.passes.shards import Fold, ReadShards, State
from headscope.storage.codec import decode, encode
from headscope.storage.files import remove_unfinished, writing
from headscope.storage.hashes import Fingerprint, difference
from headscope.storage.lines import Record, append_line, line_of, read_lines, replace_lines

FORMAT = "checkpoint of a pass"
NOTHING_KEPT = "stopped before the first checkpoint of this pass; the same command starts the pass again"


class Checkpoints(Generic[State]):
    """The checkpoints of the next pass of a journal; without one nothing is kept.

    * `fingerprint`: what the numbers of the pass depend on, beside what those of the run do.
    * `on_notice`: called with one line when the pass goes on from a checkpoint, or starts anew.
    * `restored`: the shards that are done, by the file; an empty part where there is none.
    """

    def __init__(
        self,
        journal: PassJournal | None,
        fingerprint: Callable[[], Fingerprint],
        fold: Fold[State],
        on_notice: Callable[[str], None],
    ):
        self.journal, self.fold, self.on_notice = journal, fold, on_notice
        self.nothing = self.restored = ReadShards[State](fold.start().state())
        self.items = 0  # of a list, that are in the file
        self.shards = 0
        if journal:
            self.path, self.fingerprint = journal.next_pass(), {**journal.run, **fingerprint()}
            remove_unfinished(self.path)
            run, read = journal.read.pop(journal.passes, (None, None))
            if read and run == self.fingerprint:
                self.restored = read
            elif self.path.exists():
                self._restore(journal)
                self.shards = self.restored.shards

    def begin_anew(self, reason: str) -> None:
        """Forget the part in the file, and say why."""
        self.restored, self.shards, self.items = self.nothing, 0, 0
        self.on_notice(f"'{self.path}' {reason}; the pass starts again")

    def hand_on(self, part: ReadShards[State]) -> None:
        """Give a whole pass to the run that takes it next."""
        if self.journal and self.journal.writes(part.seconds):
            self._write(part, self.journal)
        elif self.journal:
            self.journal.read[self.journal.passes] = (self.fingerprint, part)

    def save(self, part: ReadShards[State], *, at_once: bool = False) -> None:
        """Keep a part, if a checkpoint is due or must be made (`at_once`).

        Raises `HeadscopeError` if it cannot be written; the last checkpoint is kept.
        """
        if self.journal and part.shards > self.shards and (at_once or self.journal.due):
            self._write(part, self.journal)
        if self.journal and at_once:
            kept = f"{part.coverage.inputs:,} inputs are kept in '{self.path}'; start the same command again to resume"
            self.on_notice(f"{kept} from there" if part.shards else NOTHING_KEPT)

    def finish(self, part: ReadShards[State]) -> None:
        """Keep the whole pass in a journal that is kept, or if its state has files: computing from them takes time."""
        if self.journal and (self.journal.kept or self.fold.files is not None) and part.shards > self.shards:
            self._write(part, self.journal)

    def _write(self, part: ReadShards[State], journal: PassJournal) -> None:
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
        self.shards, journal.saved = part.shards, time.monotonic()
        journal.cost = journal.saved - started

    def _restore(self, journal: PassJournal) -> None:
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
            if not journal.silent:
                self.on_notice(f"{done} by '{self.path}'; the pass resumes from there")

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
