"""Problems that a reader yields beside examples: lines that cannot be read, and items left out on purpose.

Numbers, texts and names beyond their bounds are such problems.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from headscope.linguistics.sentence import Example
from headscope.storage.limits import LONGEST_NAME, LONGEST_TEXT, MOST_DIGITS

Item = TypeVar("Item")
Made = TypeVar("Made")


class Bad(Exception):
    """A line that cannot be read; a reader yields it, and `read` alone decides to raise or to count it.

    >>> Bad(12, "3 columns, expected 4").line
    12
    """

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item left out on purpose, `count` times; `read` adds it to the counts of the corpus.

    >>> Skipped("words cut", 12).count
    12
    """

    reason: str
    count: int = 1


def parsed(items: Iterable[Item | Bad | Skipped], parse: Callable[[Item], Made]) -> Iterator[Made | Bad | Skipped]:
    """Parse each item that is no problem; where `parse` raises `Bad`, yield that.

    >>> list(parsed(["1", Skipped("empty"), "2"], int))
    [1, Skipped(reason='empty', count=1), 2]
    """
    for item in items:
        try:
            yield item if isinstance(item, Bad | Skipped) else parse(item)
        except Bad as bad:
            yield bad


def is_whole_number(text: str) -> bool:
    """True for a whole number of at most 18 digits, without a sign."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def refuse_long(text: str, line: int) -> None:
    """Raise `Bad` for a text that is longer than is read."""
    if len(text) > LONGEST_TEXT:
        raise Bad(line, long_text(text))


def long_text(text: str) -> str:
    """What is said of a text that is too long."""
    return (
        f"text '{text[:20]}...' has {len(text)} characters, at most {LONGEST_TEXT} are read; break it into paragraphs"
    )


def whole_number(text: str, line: int, name: str) -> int:
    """Parse a whole number; raise `Bad` for anything else.

    >>> whole_number("12", 1, "head")
    12
    """
    if not is_whole_number(text):
        raise Bad(line, f"{name} '{text[:40]}' is not a whole number")
    return int(text)


def unstorable(example: Example) -> str | None:
    """The first text or name that is too long, or that netCDF cannot hold, in words; None if there is none.

    >>> from headscope.linguistics.sentence import Sentence
    >>> unstorable(Example("1", (Sentence("It rained."),), label="x" * 2000))
    "label 'xxxxxxxxxxxxxxxxxxxx...' has 2000 characters, at most 1000 are stored"
    >>> unstorable(Example("1", (Sentence("It rained."),), label="no"))
    """
    return first_unstorable(_named(example), [sentence.text for sentence in example.sentences])


def first_unstorable(names: Iterable[tuple[str, str]], texts: Iterable[str]) -> str | None:
    """The first of some names, each with its role, and texts that are too long or cannot be stored; None if all can.

    >>> first_unstorable([("condition", "past")], ["It rained.\\0"])
    "text 'It rained.\\\\x00' has a NUL character, or half of a character; take it out"
    """
    named, texts = list(names), list(texts)
    joined = "".join([*texts, *[value for _, value in named]])
    if len(joined) <= LONGEST_NAME and _is_storable(joined):  # as most are
        return None
    for name, value in named:
        if len(value) > LONGEST_NAME:
            return f"{name} '{value[:20]}...' has {len(value)} characters, at most {LONGEST_NAME} are stored"
    for text in texts:
        if len(text) > LONGEST_TEXT:
            return long_text(text)
    if _is_storable(joined):
        return None
    name, value = next(pair for pair in (*named, *(("text", text) for text in texts)) if not _is_storable(pair[1]))
    return f"{name} {value[:20]!a} has a NUL character, or half of a character; take it out"


def _named(example: Example) -> Iterator[tuple[str, str]]:
    yield "id", example.id
    if isinstance(example.label, str):
        yield "label", example.label
    for sentence in example.sentences:
        if sentence.words:
            yield from (("relation", relation) for relation in sentence.deprel)
            yield from (("part of speech", tag) for tag in sentence.upos)
            yield from (("class", name) for name in sentence.classes)
            yield from (("relation", link.relation) for link in sentence.links)
            for span in sentence.labelled:
                yield from (("label", label) for label in (*span.labels, span.group, span.lemma))


def _is_storable(text: str) -> bool:
    try:
        return "\0" not in text and (text.isascii() or bool(text.encode()))
    except UnicodeEncodeError:
        return False
