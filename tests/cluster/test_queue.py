"""Tasks are handed out in order, again after a death, and their outcomes are taken in order."""

import random
from itertools import accumulate

import pytest

from headscope.cluster.queue import TRIES, TaskQueue
from headscope.errors import HeadscopeError


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
