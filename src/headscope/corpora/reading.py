"""The good examples of some sources, one after the other; what is wrong with an example is an error, or counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headscope.corpora.marks import Mark
from headscope.corpora.options import Options
from headscope.corpora.parsing.cursor import START, Cursor
from headscope.corpora.parsing.storable import unstorable
from headscope.corpora.problems import Bad, Skipped
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, segment_text


@dataclass(frozen=True)
class Sources:
    """Sources of one kind, how they are read, and the `examples` of their reader."""

    read: Callable[[Any, Options], Iterable[Example | Bad | Skipped]]
    sources: list[Any]
    options: Options


class SourceReader:
    """Reads sources, and knows where it is.

    * `source`: the number of the one that is open, -1 for none; `cursor`: the place in it.
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
            yield from self._good(items, _name(sources[self.source]))
        self.source = -1

    def _good(self, items: Iterable[Example | Bad | Skipped], source: str) -> Iterator[Example]:
        numbered = f"{Path(source).name}:"
        for item in items:
            if isinstance(item, Skipped):
                self.skipped[item.reason] += item.count
            elif (problem := self._problem(item, numbered)) or isinstance(item, Bad):
                if not self.options.skip_bad:
                    remedy = "mend it, or leave such examples out with --skip-bad"
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


def _name(source: Any) -> str:
    return source if isinstance(source, str) else type(source).__name__
