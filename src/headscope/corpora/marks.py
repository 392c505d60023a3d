"""Places from which a corpus can be read on, noted while it is read through."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from headscope.corpora.parsing.cursor import START, Cursor, FilePosition

# Of a large corpus every other mark is dropped, again and again, so that there are never more.
MOST = 2**13


@dataclass(frozen=True, slots=True)
class Mark:
    """A place behind so many examples of a corpus, in the file of a number."""

    examples: int = 0
    source: int = 0
    position: FilePosition = START


class Marks:
    """Marks in their order, at least `step` examples apart; the first is the start of the corpus.

    >>> marks = Marks()
    >>> marks.note(3, 0, Cursor(FilePosition(offset=40, line=5)))
    >>> marks.before(7).position.line, marks.before(2).position.line
    (5, 0)
    """

    def __init__(self, marks: Sequence[Mark] = (Mark(),)):
        self.marks, self.examples = list(marks), [mark.examples for mark in marks]
        self.step, self.source, self.next = 1, 0, 1

    def note(self, examples: int, source: int, cursor: Cursor) -> None:
        """Note the place behind the last of so many examples; before it, if it is the first of its file.

        The cursor of a reader without places stays at the start of the file.
        """
        if source > self.source:
            self.source = source
            self._add(Mark(examples - 1, source))
        if examples >= self.next and cursor.line:
            self._add(Mark(examples, source, cursor.position))

    def before(self, examples: int) -> Mark:
        """The last mark that is not behind more than so many examples."""
        return self.marks[bisect_right(self.examples, examples) - 1]

    def _add(self, mark: Mark) -> None:
        if mark.examples >= self.next:
            self.examples.append(mark.examples)
            self.marks.append(mark)
            self.next = mark.examples + self.step
        if len(self.marks) > MOST:
            self._thin()

    def _thin(self) -> None:
        noted, self.examples, self.marks, self.step = self.marks, [0], [Mark()], 2 * self.step
        self.next = self.step
        for mark in noted:
            self._add(mark)
