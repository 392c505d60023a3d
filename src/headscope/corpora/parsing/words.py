"""Characters of the words of a text: between blanks, as they are listed, or made of letters and digits."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from headscope.corpora.problems import Bad

Span = tuple[int, int]
BLANKS = re.compile(r"\s*")
# Letters and digits, with the apostrophes and hyphens between them; or any other sign.
WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


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


def joined(forms: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """A text of words with blanks between them, and the characters of each word.

    >>> joined(["He", "slept", "."])
    ('He slept .', ((0, 2), (3, 8), (9, 10)))
    """
    starts = accumulate((len(form) + 1 for form in forms), initial=0)
    return " ".join(forms), tuple((start, start + len(form)) for start, form in zip(starts, forms, strict=False))


def covered(words: Sequence[Span], span: Span) -> tuple[int, ...]:
    """The numbers of the words that share a character with a span.

    >>> covered([(0, 2), (3, 8), (9, 10)], (0, 4))
    (0, 1)
    """
    return tuple(word for word, (start, end) in enumerate(words) if start < span[1] and span[0] < end)


def words(text: str, spans: Iterable[Span] = ()) -> tuple[Span, ...]:
    """The characters of each word and of each sign; no word goes across an end of `spans`.

    >>> words("Ann's cat-flap."), words("Ann's", [(0, 3)])
    (((0, 5), (6, 14), (14, 15)), ((0, 3), (3, 4), (4, 5)))
    """
    ends = {end for span in spans for end in span}
    spans_of_words: list[Span] = []
    for match in WORD.finditer(text):
        inner = sorted(end for end in ends if match.start() < end < match.end())
        parts = pairwise([match.start(), *inner, match.end()]) if inner else [match.span()]
        spans_of_words += [
            (start + match.start(), start + match.end())
            for start, end in parts
            for match in WORD.finditer(text[start:end])
        ]
    return tuple(spans_of_words)


def within(words: tuple[Span, ...], span: Span, line: int) -> Span:
    """The words [first, last) that lie in the characters [start, end).

    Raises `Bad` if there is none.

    >>> within(((0, 3), (4, 9), (9, 10)), (4, 10), 1)
    (1, 3)
    """
    inside = [number for number, (start, end) in enumerate(words) if span[0] <= start and end <= span[1]]
    if not inside:
        raise Bad(line, f"characters {span[0]} to {span[1]} hold no word")
    return inside[0], inside[-1] + 1
