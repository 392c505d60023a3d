"""The examples of a corpus, read one after the other from any of them on."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from headscope.corpora.annotate import annotator
from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import START, Cursor, FilePosition
from headscope.corpora.problems import Bad, Skipped, unstorable
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, segment_text

# Of a large corpus every other mark is dropped, again and again, so that there are never more.
MOST_MARKS = 2**13


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a corpus: the examples before it, the number of its file, and the position there."""

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
        """Note the place after this many examples; before it, if it is the first of its file.

        The cursor of a reader without places stays at the start of the file.
        """
        if source > self.source:
            self.source = source
            self._add(Mark(examples - 1, source))
        if examples >= self.next and cursor.line:
            self._add(Mark(examples, source, cursor.position))

    def before(self, examples: int) -> Mark:
        """The last mark at or before this many examples."""
        return self.marks[bisect_right(self.examples, examples) - 1]

    def _add(self, mark: Mark) -> None:
        if mark.examples >= self.next:
            self.examples.append(mark.examples)
            self.marks.append(mark)
            self.next = mark.examples + self.step
        if len(self.marks) > MOST_MARKS:
            self._thin()

    def _thin(self) -> None:
        noted, self.examples, self.marks, self.step = self.marks, [0], [Mark()], 2 * self.step
        self.next = self.step
        for mark in noted:
            self._add(mark)


@dataclass(frozen=True)
class Sources:
    """Sources of one kind, how they are read, and the `examples` of their reader.

    * `chosen`: the numbers of the examples that are taken, in their order, and `drawn` how they were chosen, in words;
      None takes all, up to the limit. `left_out`: what was left out where they were drawn.
    * `marks`: places that are known before the corpus is checked.
    """

    read: Callable[[Any, Options], Iterable[Example | Bad | Skipped]]
    sources: list[Any]
    options: Options
    chosen: Int[np.ndarray, " chosen"] | None = None
    drawn: str = ""
    marks: Marks = field(default_factory=Marks)
    left_out: Counter[str] = field(default_factory=Counter)


class SourceReader:
    """Reads sources, and knows the place in the open one (`source`, -1 for none).

    * `skipped`: what was left out; `repeated`: whether that was so for an id of another example.
    """

    def __init__(self, sources: Sources):
        self.sources, self.options = sources, sources.options
        self.source, self.cursor = -1, Cursor()
        self.skipped, self.repeated, self.ids = Counter[str](), False, set[str]()

    def examples(self, mark: Mark) -> Iterator[Example]:
        """The examples from a mark on."""
        position, sources = mark.position, self.sources.sources
        for self.source in range(mark.source, len(sources)):
            self.cursor, position = Cursor(position), START
            items = self.sources.read(sources[self.source], replace(self.options, cursor=self.cursor))
            source = sources[self.source]
            yield from self._good(items, source if isinstance(source, str) else type(source).__name__)
        self.source = -1

    def _good(self, items: Iterable[Example | Bad | Skipped], source: str) -> Iterator[Example]:
        numbered = f"{Path(source).name}:"
        for item in items:
            if isinstance(item, Skipped):
                self.skipped[item.reason] += item.count
            elif (problem := self._problem(item, numbered)) or isinstance(item, Bad):
                if not self.options.skip_bad:
                    remedy = "correct it, or leave such examples out with --skip-bad"
                    raise HeadscopeError(f"corpus '{source}', {problem}; {remedy}")
                self.skipped["bad"] += 1
            elif all([segment_text(segment).strip() for segment in item.segments]):
                yield item
            else:
                self.skipped["empty"] += 1

    def _problem(self, item: Example | Bad, numbered: str) -> str:
        """The place and the problem of an item; "" for a good example, whose id joins `ids`.

        * `numbered`: how an id begins that has the number of a line; it is unique, and need not be kept.
        """
        if isinstance(item, Bad):
            return f"line {item.line}: {item.message}"
        if item.id in self.ids:
            self.repeated, wrong = True, "another example has this id"
        else:
            wrong = unstorable(item)
        if not item.id.startswith(numbered):
            self.ids.add(item.id)
        return f"example '{item.id[:40]}': {wrong}" if wrong else ""


class Stream(Iterator[Example]):
    """The examples of some sources: those that are chosen, or all up to the limit of their options.

    * `number`: of the next example, from 0; `index`: how many were read before it.
    """

    def __init__(self, sources: Sources, marks: Marks | None = None):
        pipeline = sources.options.annotate
        self.marks, self.chosen = marks or sources.marks, sources.chosen
        self.limit = sources.options.limit if self.chosen is None else len(self.chosen)
        self.reading, self.number, self.index = SourceReader(sources), 0, 0
        self.annotated = annotator(pipeline, self.reading.skipped) if pipeline else lambda example: example
        self.rest = self.reading.examples(Mark())

    def __next__(self) -> Example:
        if self.number == self.limit:
            raise StopIteration
        if self.chosen is not None:
            self._go_to(int(self.chosen[self.number]))
        example = next(self.rest)
        self.number += 1
        self.index += 1
        return self.annotated(example)

    def go(self, number: int) -> None:
        """Go to the example of a number: from the last mark before it, where that saves reading."""
        self.number = number
        if self.chosen is None:
            self._go_to(number)

    def _go_to(self, index: int) -> None:
        """Go to a place; what is left out on the way is not counted."""
        mark = self.marks.before(index)
        if not mark.examples <= self.index <= index:
            self._begin(mark)
        if self.index < index:
            skipped = self.reading.skipped.copy()
            self.index += sum(1 for _ in islice(self.rest, index - self.index))
            self.reading.skipped.clear()
            self.reading.skipped.update(skipped)

    def _begin(self, mark: Mark) -> None:
        """Go to a mark; in the file that is open, so that a packed one is unpacked once."""
        self.index = mark.examples
        self.reading.ids.clear()  # there are marks after the start only where no id is repeated
        cursor = self.reading.cursor
        if self.reading.source == mark.source and cursor.line and not cursor.ended:
            cursor.move(mark.position)
        else:
            self.rest = self.reading.examples(mark)
