"""The coordinator's side: tasks are handed out to workers, and their values come back in order.

The task of a worker that died is handed out again.
"""

import heapq
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, Generic, Protocol, TypeVar

from headscope.cluster.channel import Json, Tasks
from headscope.errors import HeadscopeError
from headscope.storage.lines import Record

# Tasks that are handed out for each worker, beyond the first whose value is missing.
AHEAD = 2
Outcome = TypeVar("Outcome")
TRIES = 3


class Worker(Protocol):
    """A process that does tasks; see `headscope.cluster` for the messages."""

    def send(self, record: Record, /) -> None: ...

    def receive(self) -> Record | None:
        """The next message; None from a worker that died."""

    def release(self) -> None:
        """Give back a worker that has no task."""

    def end(self, *, dead: bool = False) -> str:
        """End the worker. Returns: how it ended."""
        ...


AnyWorker = TypeVar("AnyWorker", bound=Worker)


class Pool(Protocol[AnyWorker]):
    """Starts workers, and waits for their messages."""

    def start(self) -> AnyWorker: ...

    def wait(self, workers: Sequence[AnyWorker], /) -> list[AnyWorker]: ...


def ordered_values(pool: Pool[Any], workers: int, tasks: Tasks) -> Generator[Json]:
    """The value of each task in the order of the tasks, however many workers there are; see `Engine.values`.

    Nothing counts twice for `on_progress` where a task is done again.
    """
    coordinator = _Coordinator(pool, workers, tasks)
    try:
        yield from coordinator.values()
    finally:
        coordinator.end()


class _Coordinator:
    """The workers: those that start, those that are ready for a task, and the others with their tasks."""

    def __init__(self, pool: Pool[Any], most: int, tasks: Tasks):
        self.pool, self.most, self.tasks = pool, min(most, len(tasks.numbers)), tasks
        ahead = AHEAD * self.most
        self.queue = TaskQueue[Record](tasks.numbers, ahead=ahead, preceding=tasks.preceding, what=tasks.what)
        self.starting, self.ready, self.busy = list[Worker](), list[Worker](), dict[Worker, int]()
        self.waiting, self.failed_starts = set[Worker](), 0
        self.done: dict[int, int] = {}  # of each task, as `on_progress` has it

    def values(self) -> Generator[Json]:
        while not self.queue.finished:
            while len(self.workers) < self.most:
                self.starting.append(self.pool.start())
            self._hand_out()
            for worker in self.pool.wait([*self.starting, *self.busy]):
                self._receive(worker)
            for outcome in self.queue.take():
                yield _value(outcome)

    @property
    def workers(self) -> list[Worker]:
        return [*self.starting, *self.ready, *self.busy]

    def end(self) -> None:
        for worker in self.ready:
            worker.release()
        for worker in (*self.starting, *self.busy):
            worker.end()

    def _hand_out(self) -> None:
        """Give a task to each worker without one, and to each that waits the size of what is before its task."""
        while self.ready and (task := self.queue.next()) is not None:
            worker = self.ready.pop()
            self.busy[worker] = task
            worker.send({"task": task})
        for worker in list(self.waiting):
            if (preceding := self.queue.before(self.busy[worker])) is not None:
                self.waiting.remove(worker)
                worker.send({"preceding": preceding})

    def _receive(self, worker: Worker) -> None:
        message = worker.receive()
        if message is None:
            self._bury(worker)
        elif worker in self.starting:
            if "ready" in message:
                self.starting.remove(worker)
                self.ready.append(worker)
            elif "done" not in message:
                _value(message)
        elif isinstance(message.get("done"), int):
            self._progress(self.busy[worker], message["done"])
        elif isinstance(message.get("size"), int):
            self.queue.sizes[self.busy[worker]] = message["size"]
            self.waiting.add(worker)
        elif isinstance(message.get("piece"), dict):
            self.tasks.on_piece(self.busy[worker], message["piece"])
        else:
            self.queue.finish(self.busy.pop(worker), message)
            self.ready.append(worker)

    def _progress(self, task: int, done: int) -> None:
        before = self.done.get(task, 0)
        if done > before:
            self.done[task] = done
            self.tasks.on_progress(done - before)

    def _bury(self, worker: Worker) -> None:
        """Let another worker do the task of one that died."""
        how = worker.end(dead=True)
        self.waiting.discard(worker)
        if worker in self.busy:
            self.queue.repeat(self.busy.pop(worker), how)
            return
        self.starting.remove(worker)
        self.failed_starts += 1
        if self.failed_starts == TRIES:
            raise HeadscopeError(f"{TRIES} workers died ({how}) as they started; use fewer if memory is short")


def _value(outcome: Record) -> Json:
    """The value of an outcome; raises the error that it stands for."""
    if "refused" in outcome:
        raise HeadscopeError(outcome["refused"])
    if "error" in outcome:
        raise RuntimeError(f"in a worker: {outcome['error']}\n{outcome['trace']}")
    return outcome["value"]


class TaskQueue(Generic[Outcome]):
    """Tasks by their numbers, in the order of `tasks`.

    * `ahead`: how many tasks are handed out beyond the first without an outcome, so that few outcomes wait.
    * `preceding`: the size of everything before the first task; `what`: a task's name in an error.

    >>> queue = TaskQueue(range(3), ahead=1)
    >>> [queue.next() for _ in range(3)]
    [0, 1, None]
    >>> queue.finish(1, "second")
    >>> list(queue.take())
    []
    >>> queue.finish(0, "first")
    >>> list(queue.take()), queue.next()
    (['first', 'second'], 2)
    """

    def __init__(self, tasks: Iterable[int], *, ahead: int, preceding: int = 0, what: str = "shard"):
        self.tasks, self.ahead, self.preceding, self.what = deque(tasks), ahead, preceding, what
        self.open, self.again = deque[int](), list[int]()
        self.outcomes, self.sizes, self.deaths = dict[int, Outcome](), dict[int, int](), Counter[int]()

    @property
    def finished(self) -> bool:
        """Whether the outcomes of all tasks were taken."""
        return not (self.tasks or self.open)

    def next(self) -> int | None:
        """The next task for a worker; None if there is none now."""
        if self.again:
            return heapq.heappop(self.again)
        if len(self.open) > self.ahead or not self.tasks:
            return None
        self.open.append(self.tasks.popleft())
        return self.open[-1]

    def before(self, task: int) -> int | None:
        """The size of all tasks before this one; None as long as the size of an earlier task is missing."""
        earlier = list(takewhile(lambda number: number != task, self.open))
        if any(number not in self.sizes for number in earlier):
            return None
        return self.preceding + sum(self.sizes[number] for number in earlier)

    def finish(self, task: int, outcome: Outcome) -> None:
        """Keep the outcome of a task."""
        self.outcomes[task] = outcome

    def repeat(self, task: int, how: str) -> None:
        """Hand a task out again whose worker died. Raises `HeadscopeError` if it is the third; `how` it died."""
        self.deaths[task] += 1
        if self.deaths[task] == TRIES:
            raise HeadscopeError(
                f"{TRIES} workers died ({how}) at {self.what} {task + 1}; use fewer workers if memory is short, or a "
                "smaller --batch-tokens"
            )
        heapq.heappush(self.again, task)

    def take(self) -> Iterator[Outcome]:
        """Take the next outcomes in order, each once."""
        while self.open and self.open[0] in self.outcomes:
            task = self.open.popleft()
            self.preceding += self.sizes.pop(task, 0)
            yield self.outcomes.pop(task)
