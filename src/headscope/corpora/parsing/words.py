"""Characters of the words of a text: between blanks, as they are listed, or by the word boundaries of Unicode."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from icu4py.breakers import WordBreaker

from headscope.corpora.problems import Bad

Span = tuple[int, int]
BLANKS = re.compile(r"\s*")
NO_WIDTH = re.compile("[\u200b\ufeff]")  # blanks without width
JOINING = re.compile("['’-]")
HALF = re.compile("[\ud800-\udfff]")  # of a character, which ICU refuses
LOCALE = "en"  # boundaries are the same in all


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


def joined(forms: Sequence[str], between: str = " ") -> tuple[str, tuple[Span, ...]]:
    """A text of words with blanks (or else) between them, and the characters of each word.

    >>> joined(["He", "slept", "."])
    ('He slept .', ((0, 2), (3, 8), (9, 10)))
    """
    starts = accumulate((len(form) + len(between) for form in forms), initial=0)
    return between.join(forms), tuple((start, start + len(form)) for start, form in zip(starts, forms, strict=False))


def covered(words: Sequence[Span], span: Span) -> tuple[int, ...]:
    """The numbers of the words that share a character with a span.

    >>> covered([(0, 2), (3, 8), (9, 10)], (0, 4))
    (0, 1)
    """
    return tuple(word for word, (start, end) in enumerate(words) if start < span[1] and span[0] < end)


def words(text: str, spans: Iterable[Span] = ()) -> tuple[Span, ...]:
    """The characters of each word and of each sign; no word goes across an end of `spans`.

    Words are those of Unicode (UAX 29, by ICU): a combining sign belongs to its letter, and ICU's dictionaries cut
    Chinese, Japanese, Thai, Lao, Khmer and Burmese, which have no blanks. An apostrophe or hyphen between letters or
    digits belongs to the word. There is no other analysis: dictionaries err on rare words and names; two words with a
    full stop between them and no blank are one; clitics (Arabic wa-, French l') and parts of compounds stay in theirs.

    >>> words("Ann's cat-flap."), words("Ann's", [(0, 3)])
    (((0, 5), (6, 14), (14, 15)), ((0, 3), (3, 4), (4, 5)))
    >>> [text[start:end] for text in ("यह किताब है", "我喜欢猫") for start, end in words(text)]
    ['यह', 'किताब', 'है', '我', '喜欢', '猫']
    """
    ends = sorted({0, len(text), *(end for span in spans for end in span if 0 < end < len(text))})
    return tuple((base + start, base + end) for base, stop in pairwise(ends) for start, end in _words(text[base:stop]))


def _words(text: str) -> list[Span]:
    """The words of a text; an apostrophe or hyphen between two makes them one."""
    taken = text if text.isascii() else HALF.sub("\ufffd", NO_WIDTH.sub(" ", text))
    segments = [*WordBreaker(taken, LOCALE)]  # its numbers count UTF-16; a mark stands with its blank
    ends = accumulate(map(len, segments))
    spans = [(end - len(part.lstrip()), end) for part, end in zip(segments, ends, strict=True) if not part.isspace()]
    if not JOINING.search(text):
        return spans
    found: list[Span] = []
    for span in spans:
        found.append(span)
        if len(found) > 2 and JOINING.fullmatch(text, *found[-2]) and _is_joined(text, *found[-3:]):
            found[-3:] = [(found[-3][0], span[1])]
    return found


def _is_joined(text: str, before: Span, sign: Span, after: Span) -> bool:
    """Whether a sign stands between letters or digits, with no blank."""
    touch = before[1] == sign[0] and sign[1] == after[0]
    return touch and all(any(map(str.isalnum, text[slice(*span)])) for span in (before, after))


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
