"""Problems that a reader yields beside examples: lines that cannot be read, and items left out on purpose."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


class Bad(Exception):
    """A line that cannot be read; a reader yields it, and `read` alone decides to raise or to count it.

    >>> Bad(12, "3 columns, expected 4").line
    12
    """

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item left out on purpose, `count` times; `read` adds it to the counts of the corpus.

    >>> Skipped("words cut", 12).count
    12
    """

    reason: str
    count: int = 1


def parsed(items: Iterable[Item | Bad | Skipped], parse: Callable[[Item], Made]) -> Iterator[Made | Bad | Skipped]:
    """Parse each item that is no problem; where `parse` raises `Bad`, yield that.

    >>> list(parsed(["1", Skipped("empty"), "2"], int))
    [1, Skipped(reason='empty', count=1), 2]
    """
    for item in items:
        try:
            yield item if isinstance(item, Bad | Skipped) else parse(item)
        except Bad as bad:
            yield bad
