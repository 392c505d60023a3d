"""What a reader yields beside examples: what is bad, and what is left out."""

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
    """Something left out on purpose, `count` times; `read` adds it to the corpus' counts.

    >>> Skipped("words cut", 12).count
    12
    """

    reason: str
    count: int = 1
