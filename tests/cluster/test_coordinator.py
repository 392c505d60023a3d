"""Tasks reach workers that start, die and answer in any order; values come back in the order of the tasks."""

import random
from collections import deque
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest

from headscope.cluster.channel import Tasks
from headscope.cluster.coordinator import AHEAD, TRIES, TaskQueue, ordered_values
from headscope.errors import HeadscopeError
from headscope.storage.lines import Record

SIZES = {task: 3 * task % 5 for task in range(12)}


class FakeWorker:
    """A worker of which each task has two steps of progress, a piece, a size and a value; some die with the size."""

    def __init__(self, pool: "FakePool", *, starts: bool):
        self.pool, self.messages, self.task, self.ended = pool, deque[Record | None](), -1, ""
        self.messages.append({"ready": True} if starts else None)

    def send(self, record: Record) -> None:
        if "task" in record:
            self.task = record["task"]
            self.pool.handed_out.append(self.task)
            done, size = [{"done": 1}, {"done": 3}], {"size": SIZES[self.task]}
            if self.pool.deaths.get(self.task, 0) > 0:
                self.pool.deaths[self.task] -= 1
                self.messages += [*done, size, None]
            elif self.task in self.pool.failures:
                self.messages += [*done, self.pool.failures[self.task]]
            else:
                self.messages += [*done, {"piece": {"of": self.task}}, size]
        else:
            self.messages.append({"value": [self.task, record["preceding"]]})

    def receive(self) -> Record | None:
        return self.messages.popleft()

    def release(self) -> None:
        self.ended += "released"

    def end(self, *, dead: bool = False) -> str:
        self.ended += "buried" if dead else "killed"
        return "signal 9"


class FakePool:
    """Starts workers; which of those that have a message is heard first is drawn."""

    def __init__(self, seed: int = 0, *, deaths: dict[int, int] | None = None, starts: bool = True):
        self.random, self.deaths, self.starts = random.Random(seed), deaths or {}, starts
        self.failures, self.members, self.handed_out = dict[int, Record](), list[FakeWorker](), list[int]()

    def start(self) -> FakeWorker:
        self.members.append(FakeWorker(self, starts=self.starts))
        return self.members[-1]

    def wait(self, workers: Sequence[FakeWorker]) -> list[FakeWorker]:
        heard = [worker for worker in workers if worker.messages]
        assert heard, "all workers wait: nobody will ever answer"
        return self.random.sample(heard, self.random.randint(1, len(heard)))


class Noted:
    """Tasks whose progress and pieces are kept."""

    def __init__(self, number: int = len(SIZES)):
        self.done, self.pieces = list[int](), list[tuple[int, Record]]()
        self.tasks = Tasks(
            do=lambda task, channel: None,
            numbers=range(number),
            what="shard",
            fingerprint=dict,
            on_progress=self.done.append,
            preceding=100,
            on_piece=lambda task, piece: self.pieces.append((task, piece)),
        )


def expected(number: int = len(SIZES)) -> list[Any]:
    """The value of each task: its number, and the size of everything before it."""
    return [[task, 100 + sum(SIZES[earlier] for earlier in range(task))] for task in range(number)]


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_values_come_in_order_whoever_answers_or_dies_first(workers: int, seed: int) -> None:
    pool, noted = FakePool(seed, deaths={0: 1, 5: 2, 11: 1}), Noted()
    assert list(ordered_values(pool, workers, noted.tasks)) == expected()
    assert sum(noted.done) == 3 * len(SIZES) and min(noted.done) > 0, "what is done twice counts once"
    assert sorted(task for task, _ in noted.pieces) == list(SIZES) and all(
        {"of": at} == one for at, one in noted.pieces
    )
    assert sorted(pool.handed_out) == sorted([*SIZES, 0, 5, 5, 11])
    assert [worker.ended for worker in pool.members].count("buried") == 4
    assert all(worker.ended in ("released", "buried") for worker in pool.members)


def test_there_are_no_more_workers_than_tasks_and_few_tasks_ahead() -> None:
    pool = FakePool()
    assert list(ordered_values(pool, 9, Noted(3).tasks)) == expected(3)
    assert len(pool.members) == 3
    pool = FakePool()
    values = ordered_values(pool, 2, Noted().tasks)
    next(values)
    assert len(pool.members) == 2 and max(pool.handed_out) <= AHEAD * 2 + 1
    values.close()
    assert {worker.ended for worker in pool.members} <= {"released", "killed"}


def test_three_deaths_at_a_task_end_the_run_and_all_workers() -> None:
    pool, values = FakePool(deaths={1: 3}), list[Any]()
    with pytest.raises(HeadscopeError, match=r"^3 workers died \(signal 9\) at shard 2; use fewer workers"):
        values.extend(ordered_values(pool, 2, Noted().tasks))
    assert all(worker.ended for worker in pool.members)


def test_three_workers_that_cannot_start_end_the_run() -> None:
    pool = FakePool(starts=False)
    with pytest.raises(HeadscopeError, match=r"^3 workers died \(signal 9\) as they started; use fewer if memory"):
        list(ordered_values(pool, 2, Noted().tasks))
    assert all(worker.ended for worker in pool.members)


@pytest.mark.parametrize(
    ("failure", "error", "words"),
    [
        ({"refused": "'x' is closed; open it"}, HeadscopeError, "^'x' is closed; open it$"),
        ({"error": "KeyError: 4", "trace": "line 9"}, RuntimeError, "^in a worker: KeyError: 4\nline 9$"),
    ],
)
def test_an_error_is_raised_behind_the_values_before_it(failure: Record, error: type[Exception], words: str) -> None:
    pool, values = FakePool(), list[Any]()
    pool.failures[3] = failure
    with pytest.raises(error, match=words):
        for value in ordered_values(pool, 3, Noted().tasks):
            values.append(value)
    assert values == expected(3) and all(worker.ended for worker in pool.members)


def test_a_worker_that_refuses_as_it_starts_is_an_error_at_once() -> None:
    pool = FakePool()
    values = ordered_values(pool, 1, Noted().tasks)
    start = pool.start

    def refusing() -> FakeWorker:
        worker = start()
        worker.messages = deque[Any]([{"done": 0}, {"refused": "no folder 'x'"}])
        return worker

    pool.start = refusing
    with pytest.raises(HeadscopeError, match=r"^no folder 'x'$"):
        next(values)
    assert [worker.ended for worker in pool.members] == ["killed"]


@pytest.mark.parametrize("ahead", [0, 1, 5])
@pytest.mark.parametrize("seed", range(4))
def test_outcomes_are_taken_once_and_in_order_whoever_ends_or_dies_first(ahead: int, seed: int) -> None:
    random_order, queue = random.Random(seed), TaskQueue[int](range(3, 23), ahead=ahead)
    busy, taken = list[int](), list[int]()
    while not queue.finished:
        while (task := queue.next()) is not None:
            busy.append(task)
        assert len(queue.open) <= ahead + 1
        task = busy.pop(random_order.randrange(len(busy)))
        if random_order.random() < 0.3 and queue.deaths[task] < TRIES - 1:
            queue.repeat(task, "signal 9")
        else:
            queue.finish(task, task * 10)
        taken += queue.take()
    assert taken == [task * 10 for task in range(3, 23)] and queue.next() is None


def test_what_is_before_a_task_is_known_once_all_earlier_sizes_are() -> None:
    sizes = [4, 0, 7, 1]
    queue = TaskQueue[str](range(4), ahead=9, preceding=100)
    assert [queue.next() for _ in range(5)] == [0, 1, 2, 3, None]
    queue.sizes[1] = sizes[1]
    assert [queue.before(task) for task in range(4)] == [100, None, None, None]
    queue.sizes |= dict(enumerate(sizes))
    expected = list(accumulate([100, *sizes[:3]]))
    assert [queue.before(task) for task in range(4)] == expected
    queue.finish(0, "zero")
    queue.finish(1, "one")
    assert list(queue.take()) == ["zero", "one"]
    assert [queue.before(task) for task in (2, 3)] == expected[2:], "sizes of what was taken count, too"


def test_a_task_whose_worker_died_comes_first_the_lowest_before_all() -> None:
    queue = TaskQueue[str](range(9), ahead=9)
    assert [queue.next() for _ in range(4)] == [0, 1, 2, 3]
    queue.repeat(2, "signal 9")
    queue.repeat(1, "signal 9")
    assert [queue.next() for _ in range(3)] == [1, 2, 4]


def test_three_deaths_at_a_task_are_an_error_with_its_number_and_a_remedy() -> None:
    queue = TaskQueue[str](range(9), ahead=9, what="item")
    queue.repeat(4, "signal 9")
    queue.repeat(5, "signal 9")
    queue.repeat(4, "signal 9")
    with pytest.raises(HeadscopeError, match=r"^3 workers died \(signal 9\) at item 5; use fewer workers if memory"):
        queue.repeat(4, "signal 9")
