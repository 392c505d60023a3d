"""The order of tasks: handed out one after the other, repeated where a worker died, their outcomes taken in order."""

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Generic, TypeVar

from headscope.errors import HeadscopeError

Outcome = TypeVar("Outcome")
TRIES = 3


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
        """The size of everything before a task; None as long as the size of an earlier task is missing."""
        earlier = list(takewhile(lambda number: number != task, self.open))
        if any(number not in self.sizes for number in earlier):
            return None
        return self.preceding + sum(self.sizes[number] for number in earlier)

    def finish(self, task: int, outcome: Outcome) -> None:
        """Keep the outcome of a task."""
        self.outcomes[task] = outcome

    def repeat(self, task: int, how: str) -> None:
        """Hand a task out again whose worker died.

        Raises `HeadscopeError` if it is the third; `how` it died.
        """
        self.deaths[task] += 1
        if self.deaths[task] == TRIES:
            raise HeadscopeError(
                f"{TRIES} workers died ({how}) at {self.what} {task + 1}; use fewer workers if memory is short, or a "
                "smaller --batch-tokens"
            )
        heapq.heappush(self.again, task)

    def take(self) -> Iterator[Outcome]:
        """The outcomes that are next in order, each once."""
        while self.open and self.open[0] in self.outcomes:
            task = self.open.popleft()
            self.preceding += self.sizes.pop(task, 0)
            yield self.outcomes.pop(task)
