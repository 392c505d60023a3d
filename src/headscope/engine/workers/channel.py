"""The worker's side: tasks come, values go."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from headscope.errors import HeadscopeError
from headscope.journal.lines import Record, line_of, record_of

Json = Any


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

    def progress(self, done: int) -> None:
        """Say that so much more of the task is done."""
        self.done += done
        self._send({"done": self.done})

    def preceding(self, size: int) -> int:
        """Say the size of the task, and wait for the size of all tasks before it."""
        self._send({"size": size})
        return self._receive()["preceding"]

    def serve(self, do: Callable[[int, "TaskChannel"], Json]) -> None:
        """Do the tasks that the coordinator hands out, until it needs no more or is gone."""
        try:
            while True:
                self._do(self._receive()["task"], do)
        except ChannelClosed:
            return

    def _do(self, task: int, do: Callable[[int, "TaskChannel"], Json]) -> None:
        self.done = 0
        try:
            outcome = {"value": do(task, self)}
        except ChannelClosed:
            raise
        except HeadscopeError as error:
            outcome = {"refused": str(error)}
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        self._send(outcome)

    def _send(self, record: Record) -> None:
        with _closing():
            self.connection.send_bytes(line_of(record))

    def _receive(self) -> Record:
        with _closing():
            record = record_of(self.connection.recv_bytes())
        if record is None:
            raise ChannelClosed("a damaged line")
        return record


@contextmanager
def _closing() -> Iterator[None]:
    try:
        yield
    except (EOFError, ConnectionError) as error:
        raise ChannelClosed from error
