"""Where the tasks of a run are done: by processes on this machine, or on a cluster."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from headscope.cluster.channel import Json, TaskChannel
from headscope.storage.lines import Record


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
    """Does the tasks of a run, whose sets come in the same order in all processes; `in_worker`: for another one."""

    in_worker: bool

    def values(self, tasks: Tasks) -> Generator[Json]:
        """The value of each task, in the order of their numbers; in a worker, the total of all of them.

        Raises the error of a task at its place in the order, and `HeadscopeError` if workers die again and again.
        """
        ...

    def finish(self, total: Callable[[], Json]) -> None:
        """Keep the total of all values, which a worker needs to go on behind these tasks."""

    def close(self) -> None:
        """End all workers."""
