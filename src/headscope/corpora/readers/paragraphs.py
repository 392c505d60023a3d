"""Pairs of consecutive paragraphs of running text, cut to a number of tokens (Clark et al. 2019, section 3).

One paragraph a line; WikiText headings (` = Title = `, ` = = Section = = `) are no paragraphs. Pairs do
not overlap, and do not cross a title. The longer paragraph is cut first, always after a word.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Offsets, Options
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.problems import Skipped
from headscope.corpora.readers.text import HEADING, is_title
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES: tuple[str, ...] = ()
SPECIAL_TOKENS = 3


class Paragraph(NamedTuple):
    """The number of a line, its text, and the title that it stands under, "" for none."""

    line: int
    text: str
    title: str = ""


def examples(source: str, options: Options) -> Iterator[Example | Skipped]:
    """Each pair of paragraphs, cut to `options.segment` tokens; what was cut is counted in words.

    Raises `HeadscopeError` if there is no tokenizer, or the segment leaves no room for two paragraphs.
    """
    if options.offsets is None:
        raise HeadscopeError(f"corpus '{source}': paragraphs are cut by tokens; give read() the offsets of a tokenizer")
    room = options.segment - SPECIAL_TOKENS
    if room < 2:
        raise HeadscopeError(f"corpus '{source}': a segment of {options.segment} tokens is too short; use at least 5")
    for pair in _pairs(source, options.cursor or Cursor()):
        if len(pair) < 2:
            yield Skipped("paragraph without a second")
            continue
        first, second = (paragraph.text for paragraph in pair)
        fitted = fit(first, second, room, options.offsets)
        if cut := len(f"{first} {second}".split()) - len(" ".join(fitted).split()):
            yield Skipped("words cut", cut)
        one, other = (Sentence(text, document=pair[0].title) for text in fitted)
        yield Example(f"{Path(source).name}:{pair[0].line}", (one,), (other,))


def fit(first: str, second: str, room: int, offsets: Offsets) -> tuple[str, str]:
    """Two texts that have together at most `room` pieces, the longer cut first, each after a word.

    >>> each = lambda text: [(at, at + 1) for at in range(len(text)) if text[at] != " "]
    >>> fit("a b c d e f", "g h", 5, each)
    ('a b c', 'g h')
    """
    first = shorten(first, max(room - len(offsets(second)), room - room // 2), offsets)
    return first, shorten(second, room - len(offsets(first)), offsets)


def shorten(text: str, most: int, offsets: Offsets) -> str:
    """The longest beginning of a text that ends with a word and has at most `most` pieces; empty if a word has more."""
    pieces = offsets(text)
    if len(pieces) <= most:
        return text
    # the beginning is counted anew: a tokenizer may split it otherwise than the whole
    end = max((end for _, end in pieces[:most] if text[end : end + 1].isspace()), default=0)
    return shorten(text[:end], most, offsets)


def _pairs(source: str, cursor: Cursor) -> Iterator[list[Paragraph]]:
    waiting: list[Paragraph] = []
    for number, line in lines(source, cursor=cursor):
        text = line.strip()
        if is_title(text):
            if waiting:
                yield waiting
            waiting, cursor.known = [], (f"{Path(source).name}:{number}",)
        elif text and not HEADING.fullmatch(text):
            waiting.append(Paragraph(number, text, *cursor.known))
        if len(waiting) == 2:
            yield waiting
            waiting = []
    if waiting:
        yield waiting
