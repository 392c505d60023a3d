"""Workers on this machine: processes that are forked in the middle of a run, and so have its model and its corpus."""

import ctypes
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait

import torch

from headscope.cluster.channel import ChannelClosed, Json, TaskChannel, Tasks, message_of, record_of
from headscope.cluster.coordinator import ordered_values
from headscope.errors import HeadscopeError
from headscope.storage.lines import Record

PARENT_DEATH_SIGNAL = 1  # of prctl(2)
SECONDS = 1.0  # for the end of a child that has closed its connection
THREADS_OF_TOKENIZERS = "TOKENIZERS_PARALLELISM"


class ForkedWorker:
    """A child of this process, which does tasks until it is ended."""

    def __init__(self, do: Callable[[int, TaskChannel], Json]):
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=partial(_run, theirs, do), daemon=True)
        with warnings.catch_warnings(), _one_tokenizer_thread():
            # Python warns of threads that hold locks at a fork; torch's and the tokenizer's are not used by the child.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def send(self, record: Record) -> None:
        """Send a message; that a child has died shows at the next `receive`."""
        with suppress(ConnectionError):
            self.connection.send_bytes(message_of(record))

    def receive(self) -> Record | None:
        """The next message; None from a child that died, or sent a damaged one."""
        with suppress(EOFError, ConnectionError):
            return record_of(self.connection.recv_bytes())
        return None

    def release(self) -> None:
        """End the child: the next tasks need others."""
        self.end()

    def end(self, *, dead: bool = False) -> str:
        """End the child, whatever it does; `dead`: it is ending by itself. Returns: how it ended."""
        if dead:
            self.process.join(SECONDS)
        self.process.kill()
        self.process.join()
        self.connection.close()
        code = self.process.exitcode or 0
        return f"signal {-code}" if code < 0 else f"status {code}"


class ForkedEngine:
    """Processes on this machine, forked for each set of tasks.

    Raises `HeadscopeError` where processes cannot be forked with a model.
    """

    in_worker = False  # a child does single tasks

    def __init__(self, workers: int, device: torch.device):
        if sys.platform != "linux" or device.type != "cpu":
            machine = f"on {device.type}" if device.type != "cpu" else f"on {sys.platform}"
            raise HeadscopeError(f"--workers: no local workers {machine}; leave it out, or use --engine ray")
        self.workers = workers

    def values(self, tasks: Tasks) -> Generator[Json]:
        return ordered_values(_ForkedPool(tasks.do), self.workers, tasks)

    def finish(self, total: Callable[[], Json]) -> None:
        """The children of the next tasks are copies of this process, and need no total."""

    def close(self) -> None:
        """Do nothing: no child outlives its tasks."""


@dataclass(frozen=True)
class _ForkedPool:
    do: Callable[[int, TaskChannel], Json]

    def start(self) -> ForkedWorker:
        return ForkedWorker(self.do)

    def wait(self, workers: Sequence[ForkedWorker]) -> list[ForkedWorker]:
        ready = wait([worker.connection for worker in workers])
        return [worker for worker in workers if worker.connection in ready]


def _run(connection: Connection, do: Callable[[int, TaskChannel], Json]) -> None:
    """The life of a child: Ctrl-C is the parent's, whose end is also its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    torch.set_num_threads(1)  # the threads of the parent do not exist here
    channel = TaskChannel(connection)
    with suppress(ChannelClosed):
        channel.ready()
        channel.serve(do)


@contextmanager
def _one_tokenizer_thread() -> Iterator[None]:
    """Within this context a child is made whose tokenizer works alone; without it the library warns on stderr."""
    before = os.environ.get(THREADS_OF_TOKENIZERS)
    os.environ[THREADS_OF_TOKENIZERS] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS_OF_TOKENIZERS]
        else:
            os.environ[THREADS_OF_TOKENIZERS] = before
