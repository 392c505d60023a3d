"""The coordinator's side: tasks are handed out to workers, and their values come back in order."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from headscope.engine.workers.channel import Json
from headscope.engine.workers.queue import TaskQueue
from headscope.errors import HeadscopeError
from headscope.journal.lines import Record

# Tasks that are handed out for each worker, beyond the first whose value is missing.
AHEAD = 2


class Worker(Protocol):
    """A process that does tasks; see `headscope.engine.workers` for the messages."""

    def send(self, record: Record, /) -> None: ...

    def receive(self) -> Record | None:
        """The next message; None from a worker that died."""
        ...

    def end(self, *, dead: bool = False) -> str:
        """End the worker. Returns: how it ended."""
        ...


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class Pool(Protocol[AnyWorker]):
    """Starts workers, and waits for their messages."""

    def start(self) -> AnyWorker: ...

    def wait(self, workers: Sequence[AnyWorker], /) -> list[AnyWorker]: ...


def ordered_values(
    pool: Pool[Any],
    workers: int,
    tasks: Iterable[int],
    *,
    what: str = "shard",
    preceding: int = 0,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Generator[Json]:
    """The value of each task in the order of the tasks, however many workers there are.

    * `what`: a task's name in an error.
    * `preceding`: the size of all that comes before the first task; see `TaskChannel.preceding`.
    * `on_progress`: called with what was done since the last call; nothing counts twice where a task is done again.

    Raises the error of a task at its place in the order, and `HeadscopeError` if three workers die at the same task.
    """
    queue = TaskQueue[Record](tasks, ahead=AHEAD * workers, preceding=preceding, what=what)
    coordinator = _Coordinator(pool, workers, queue, on_progress)
    try:
        yield from coordinator.values()
    finally:
        coordinator.end()


class _Coordinator:
    """The workers, each with its task."""

    def __init__(self, pool: Pool[Any], most: int, queue: TaskQueue[Record], on_progress: Callable[[int], None]):
        self.pool, self.most, self.queue, self.on_progress = pool, most, queue, on_progress
        self.busy, self.idle, self.waiting = dict[Worker, int](), list[Worker](), set[Worker]()
        self.done: dict[int, int] = {}  # of each task, as `on_progress` has it

    def values(self) -> Iterator[Json]:
        while True:
            for outcome in self.queue.take():
                yield _value(outcome)
            self._hand_out()
            if not self.busy:
                return
            for worker in self.pool.wait(list(self.busy)):
                self._receive(worker)

    def end(self) -> None:
        for worker in (*self.busy, *self.idle):
            worker.end()

    def _hand_out(self) -> None:
        """Give a task to each worker without one, and to each that waits the size of what is before its task."""
        while (self.idle or len(self.busy) < self.most) and (task := self.queue.next()) is not None:
            worker = self.idle.pop() if self.idle else self.pool.start()
            self.busy[worker] = task
            worker.send({"task": task})
        for worker in list(self.waiting):
            if (preceding := self.queue.before(self.busy[worker])) is not None:
                self.waiting.remove(worker)
                worker.send({"preceding": preceding})

    def _receive(self, worker: Worker) -> None:
        message, task = worker.receive(), self.busy[worker]
        if message is None:
            self.waiting.discard(worker)
            del self.busy[worker]
            self.queue.repeat(task, worker.end(dead=True))
        elif "done" in message:
            new = message["done"] - self.done.get(task, 0)
            if new > 0:
                self.done[task] = message["done"]
                self.on_progress(new)
        elif "size" in message:
            self.queue.sizes[task] = message["size"]
            self.waiting.add(worker)
        else:
            self.queue.finish(task, message)
            self.done.pop(task, None)
            self.idle.append(worker)
            del self.busy[worker]


def _value(outcome: Record) -> Json:
    """The value of an outcome; raises the error that it stands for."""
    if "refused" in outcome:
        raise HeadscopeError(outcome["refused"])
    if "error" in outcome:
        raise RuntimeError(f"in a worker: {outcome['error']}\n{outcome['trace']}")
    return outcome["value"]
