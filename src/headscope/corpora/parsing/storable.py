"""Texts and names that are too long, or that a result could not store, found when a corpus or a suite is read."""

from collections.abc import Iterable, Iterator

from headscope.corpora.parsing.limits import LONGEST_NAME, LONGEST_TEXT, long_text
from headscope.linguistics.sentence import Example


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
            yield from (("relation", link.relation) for link in sentence.links)


def _is_storable(text: str) -> bool:
    try:
        return "\0" not in text and (text.isascii() or bool(text.encode()))
    except UnicodeEncodeError:
        return False
