"""Problems that a reader yields beside examples: lines that cannot be read, and items left out on purpose."""

from dataclasses import dataclass


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
