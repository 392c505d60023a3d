"""Sentences whose words stand on a line each: blocks of lines that other lines set apart."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from headscope.corpora.parsing.cursor import Cursor
from headscope.corpora.parsing.lines import lines
from headscope.corpora.problems import Bad
from headscope.types import Example, Sentence

# The lines of a block that are not empty, with their numbers.
Block = list[tuple[int, str]]


def sentences(source: str, sentence: Callable[[Block], Sentence], cursor: Cursor | None) -> Iterator[Example | Bad]:
    """The sentence of each block of lines between empty ones; one that has a bad line is bad."""
    for block in between_empty(lines(source, cursor=cursor)):
        yield example(source, block, sentence)


def example(source: str, block: Block, sentence: Callable[[Block], Sentence]) -> Example | Bad:
    """The sentence of a block, named by the file and its first line; `Bad` if it has a bad line."""
    try:
        return Example(f"{Path(source).name}:{block[0][0]}", (sentence(block),))
    except Bad as bad:
        return bad


def between_empty(numbered: Iterable[tuple[int, str]]) -> Iterator[Block]:
    """The blocks of numbered lines that empty lines set apart."""
    block: Block = []
    for number, line in numbered:
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block
