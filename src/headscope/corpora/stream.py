"""The examples of a corpus, read one after the other from any of them on."""

from collections.abc import Iterator
from itertools import islice

from headscope.corpora.annotate import annotator
from headscope.corpora.marks import Mark, Marks
from headscope.corpora.reading import SourceReader, Sources
from headscope.linguistics.sentence import Example


class Stream(Iterator[Example]):
    """The examples of some sources, up to the limit of their options.

    * `marks`: from which `go` goes on; `number`: of the next example, from 0.
    """

    def __init__(self, sources: Sources, marks: Marks | None = None):
        self.marks, self.limit, pipeline = marks or Marks(), sources.options.limit, sources.options.annotate
        self.annotated = annotator(pipeline) if pipeline else lambda example: example
        self.reading, self.number = SourceReader(sources), 0
        self.rest = self.reading.examples(Mark())

    def __next__(self) -> Example:
        if self.number == self.limit:
            raise StopIteration
        example = next(self.rest)
        self.number += 1
        return self.annotated(example)

    def go(self, number: int) -> None:
        """Go to the example of a number: from the last mark before it, where that saves reading."""
        mark = self.marks.before(number)
        if not mark.examples <= self.number <= number:
            self._begin(mark)
        for _ in islice(self.rest, number - self.number):
            self.number += 1

    def _begin(self, mark: Mark) -> None:
        """Go to a mark; in the file that is open, so that a packed one is unpacked once."""
        self.number = mark.examples
        self.reading.ids.clear()  # there are marks behind the start only where no id is repeated
        if self.reading.source == mark.source and self.reading.cursor.line:
            self.reading.cursor.move(mark.position)
        else:
            self.rest = self.reading.examples(mark)
