"""Words of a text that comes without words."""

import re
from collections.abc import Iterable
from itertools import pairwise

from headscope.corpora.problems import Bad

WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
Span = tuple[int, int]

# Pronouns of the third person, by gender.
MASCULINE = {"he", "him", "his", "himself"}
FEMININE = {"she", "her", "hers", "herself"}
NEUTRAL = {"they", "them", "their", "theirs", "themself", "themselves"}


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


def covered(words: tuple[Span, ...], span: Span, line: int) -> Span:
    """The words [first, last) that lie in the characters [start, end).

    Raises `Bad` if there is none.

    >>> covered(((0, 3), (4, 9), (9, 10)), (4, 10), 1)
    (1, 3)
    """
    inside = [number for number, (start, end) in enumerate(words) if span[0] <= start and end <= span[1]]
    if not inside:
        raise Bad(line, f"characters {span[0]} to {span[1]} hold no word")
    return inside[0], inside[-1] + 1
