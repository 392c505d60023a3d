"""Words of a text that stand between blanks."""

import re
from collections.abc import Sequence

Span = tuple[int, int]
BLANKS = re.compile(r"\s*")


def between_blanks(text: str) -> tuple[Span, ...]:
    """The characters [start, end) of each word.

    >>> between_blanks("He slept .")
    ((0, 2), (3, 8), (9, 10))
    """
    return tuple(match.span() for match in re.finditer(r"\S+", text))


def after_blanks(text: str, at: int) -> int:
    """Where the blanks end that begin at a character.

    >>> after_blanks("a  b", 1), after_blanks("a  b", 3)
    (3, 3)
    """
    return BLANKS.match(text, at).end()  # type: ignore[union-attr]


def located(text: str, words: Sequence[str]) -> tuple[Span, ...] | None:
    """The characters of each of these words, in their order; None if the text has other words or letters.

    >>> located("He didn't.", ["He", "did", "n't", "."]), located("He slept.", ["He", "."])
    (((0, 2), (3, 6), (6, 9), (9, 10)), None)
    """
    spans, at = [], 0
    for word in words:
        at = after_blanks(text, at)
        if not text.startswith(word, at):
            return None
        spans.append((at, at + len(word)))
        at += len(word)
    return None if text[at:].strip() else tuple(spans)


def covered(words: Sequence[Span], span: Span) -> tuple[int, ...]:
    """The numbers of the words that share a character with a span.

    >>> covered([(0, 2), (3, 8), (9, 10)], (0, 4))
    (0, 1)
    """
    return tuple(word for word, (start, end) in enumerate(words) if start < span[1] and span[0] < end)
