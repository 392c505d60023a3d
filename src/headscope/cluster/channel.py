"""What processes that do tasks agree on: tasks, engines, and messages with a checksum; nothing is pickled."""

import json
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from headscope.errors import HeadscopeError
from headscope.storage.lines import Record

Json = Any
CHECKSUM, LENGTH = 32, 8  # bytes
SPAN = "start and end of bytes"


class Connection(Protocol):
    """Bytes to the coordinator and back; `recv_bytes` raises `EOFError` once the coordinator needs no more."""

    def send_bytes(self, data: bytes, /) -> None: ...

    def recv_bytes(self) -> bytes: ...


class ChannelClosed(Exception):
    """The coordinator needs no more, or is gone."""


class TaskChannel:
    """What a worker says of the task that it does."""

    def __init__(self, connection: Connection):
        self.connection, self.done = connection, 0

    def ready(self, **more: Any) -> None:
        """Say that the worker can do tasks."""
        self._send({"ready": True, **more})

    def progress(self, done: int) -> None:
        """Report progress: how much more of the task is done."""
        self.done += done
        self._send({"done": self.done})

    def piece(self, **piece: Any) -> None:
        """Send a piece of the file of the task; see `Tasks.on_piece`."""
        self._send({"piece": piece})

    def preceding(self, size: int) -> int:
        """Say the size of the task, and wait for the size of all tasks before it."""
        self._send({"size": size})
        return self._receive()["preceding"]

    def refuse(self, line: str) -> None:
        """Report a `HeadscopeError`."""
        self._send({"refused": line})

    def fail(self, error: Exception, trace: str) -> None:
        """Report any other error."""
        self._send({"error": f"{type(error).__name__}: {error}", "trace": trace})

    def serve(self, do: Callable[[int, "TaskChannel"], Json]) -> Json:
        """Do the tasks that the coordinator hands out. Returns: their total.

        Raises `ChannelClosed` if the coordinator needs no more.
        """
        while "task" in (message := self._receive()):
            self._do(message["task"], do)
        return message["total"]

    def _do(self, task: int, do: Callable[[int, "TaskChannel"], Json]) -> None:
        self.done = 0
        try:
            self._send({"value": do(task, self)})
        except ChannelClosed:
            raise
        except HeadscopeError as error:
            self.refuse(str(error))
        except Exception as error:
            self.fail(error, traceback.format_exc())

    def _send(self, record: Record) -> None:
        with _closing():
            self.connection.send_bytes(message_of(record))

    def _receive(self) -> Record:
        with _closing():
            record = record_of(self.connection.recv_bytes())
        if record is None or "end" in record:
            raise ChannelClosed
        return record


def message_of(record: Record) -> bytes:
    """A record whose arrays are as of `storage.codec.encode`.

    >>> record_of(message_of({"value": [1, "a"]}))
    {'value': [1, 'a']}
    """
    contents, end = list[bytes](), 0

    def kept(value: Any) -> dict[str, list[int]]:
        nonlocal end
        if not isinstance(value, bytes):
            raise TypeError(f"a {type(value).__name__} is no part of a message")
        contents.append(value)
        end += len(value)
        return {SPAN: [end - len(value), end]}

    text, checksum = json.dumps(record, default=kept).encode(), sha256()
    parts = [len(text).to_bytes(LENGTH), text, *contents]
    for part in parts:
        checksum.update(part)
    return b"".join([checksum.digest(), *parts])


def record_of(message: bytes) -> Record | None:
    """The record of a message; None for a damaged one."""
    view = memoryview(message)
    if len(view) < CHECKSUM + LENGTH or sha256(view[CHECKSUM:]).digest() != view[:CHECKSUM]:
        return None
    start = CHECKSUM + LENGTH
    end = start + int.from_bytes(view[CHECKSUM:start])
    contents = view[end:]

    def placed(value: dict[str, Any]) -> Any:
        return contents[slice(*value[SPAN])] if value.keys() == {SPAN} else value

    try:
        record = json.loads(bytes(view[start:end]), object_hook=placed)
    except (ValueError, RecursionError, TypeError):
        return None
    return record if isinstance(record, dict) else None


@contextmanager
def _closing() -> Iterator[None]:
    try:
        yield
    except (EOFError, ConnectionError) as error:
        raise ChannelClosed from error


def no_piece(task: int, piece: Record) -> None:
    """A task without a file has no pieces."""


@dataclass(frozen=True)
class Tasks:
    """Numbered tasks whose values depend on nothing but their numbers.

    * `do`: makes the value of a task; `numbers`: of the tasks, in order; `what`: a task's name in an error.
    * `preceding`: the size of all that comes before the first task; see `TaskChannel.preceding`.
    * `fingerprint`: what the values depend on, for processes that have loaded their inputs themselves.
    * `on_progress`: called with what was done since the last call.
    * `on_piece`: called with the number of a task and a piece of its file as soon as that comes, so that none waits. A
      task that is done again sends all pieces again.
    """

    do: Callable[[int, TaskChannel], Json]
    numbers: Sequence[int]
    what: str
    fingerprint: Callable[[], dict[str, str | int]]
    on_progress: Callable[[int], None]
    preceding: int = 0
    on_piece: Callable[[int, Record], None] = no_piece


class Engine(Protocol):
    """Does the tasks of a run, set after set, in the same order in all processes; `in_worker`: for another process."""

    in_worker: bool

    def values(self, tasks: Tasks) -> Generator[Json]:
        """The value of each task, in the order of their numbers; in a worker, the total of all of them.

        Raises the error of a task at its place in the order, and `HeadscopeError` if workers die again and again.
        """
        ...

    def finish(self, total: Callable[[], Json]) -> None:
        """Keep the total of all values, from which a worker continues after these tasks."""

    def close(self) -> None:
        """End all workers."""
