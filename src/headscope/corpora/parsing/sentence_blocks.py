"""Sentences whose words stand on a line each: blocks of lines that other lines set apart."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.problems import Bad
from headscope.linguistics.sentence import Example, Sentence
from headscope.storage.limits import LONGEST_TEXT

# The lines of a block that are not empty, or other parts of it, with the numbers of their lines.
Block = list[tuple[int, str]]


@dataclass
class OpenBlock:
    """A block that is being read; of one that is too long, nothing is kept."""

    parts: Block = field(default_factory=list)
    size: int = 0

    def add(self, number: int, part: str) -> Bad | None:
        """Add a part; the one with which the block becomes too long is answered with `Bad`, those after it are not."""
        before, self.size = self.size, self.size + len(part) + 1
        if self.size <= LONGEST_TEXT:
            self.parts.append((number, part))
        elif before <= LONGEST_TEXT:
            first, self.parts = (self.parts or [(number, part)])[0][0], []
            return Bad(first, f"a sentence of more than {LONGEST_TEXT} characters")
        return None

    def take(self) -> Block:
        """The block, empty if it was too long or has no parts; the next one begins."""
        parts, self.parts, self.size = self.parts, [], 0
        return parts


def sentences(source: str, sentence: Callable[[Block], Sentence], cursor: Cursor | None) -> Iterator[Example | Bad]:
    """The sentence of each block of lines between empty ones; one that has a bad line is bad."""
    for block in between_empty(lines(source, cursor=cursor)):
        yield block if isinstance(block, Bad) else example(source, block, sentence)


def example(source: str, block: Block, sentence: Callable[[Block], Sentence]) -> Example | Bad:
    """The sentence of a block, named by the file and its first line, its document too; `Bad` if it has a bad line."""
    name = Path(source).name
    try:
        read = sentence(block)
        return Example(f"{name}:{block[0][0]}", (replace(read, document=read.document or name),))
    except Bad as bad:
        return bad


def between_empty(numbered: Iterable[tuple[int, str]]) -> Iterator[Block | Bad]:
    """The blocks of numbered lines that empty lines set apart; `Bad` for one that is too long."""
    opened = OpenBlock()
    for number, line in numbered:
        if line.strip():
            if bad := opened.add(number, line):
                yield bad
        elif block := opened.take():
            yield block
    if block := opened.take():
        yield block
