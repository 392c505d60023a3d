"""Where the words of a CoNLL-U sentence stand in its text."""

from collections.abc import Iterator
from typing import NamedTuple

from headscope.corpora._blocks import Block, Row

Spans = tuple[tuple[int, int], ...]


class Token(NamedTuple):
    """A stretch of text: a form, how many words it is, and what follows it."""

    form: str
    n_words: int
    after: str


def tokens(rows: list[Row]) -> Iterator[Token]:
    """The stretches of text: a range of words is one, empty nodes are none."""
    covered = 0
    for row in rows:
        after = "" if row.misc.get("SpaceAfter") == "No" else " "
        if isinstance(row.id, int) and row.id > covered:
            yield Token(row.form, 1, after)
        elif isinstance(row.id, tuple) and row.id[1] == "-":
            covered = row.id[2]
            yield Token(row.form, covered - row.id[0] + 1, after)


def text_and_spans(block: Block) -> tuple[str, Spans]:
    """The text of a sentence and the characters of each word; the words of a range share its characters.

    The text is that of the comment `# text`; where it is missing or has other words, it is made from the forms.
    """
    parts = list(tokens(block.rows))
    text = block.comments.get("text", "")
    spans = find(text, parts)
    return (text, spans) if spans is not None else build(parts)


def find(text: str, parts: list[Token]) -> Spans | None:
    """The characters of each word in a text; None if the text has other words.

    >>> find("Geht  zum Haus", [Token("Geht", 1, " "), Token("zum", 2, " "), Token("Haus", 1, "")])
    ((0, 4), (6, 9), (6, 9), (10, 14))
    """
    spans, at = [], 0
    for part in parts:
        at = len(text) - len(text[at:].lstrip())
        if not text.startswith(part.form, at):
            return None
        spans += [(at, at + len(part.form))] * part.n_words
        at += len(part.form)
    return None if text[at:].strip() else tuple(spans)


def build(parts: list[Token]) -> tuple[str, Spans]:
    """A text made from the forms, and the characters of each word in it.

    >>> build([Token("zum", 2, " "), Token("Haus", 1, ""), Token(".", 1, " ")])
    ('zum Haus.', ((0, 3), (0, 3), (4, 8), (8, 9)))
    """
    text, spans = "", []
    for part in parts:
        spans += [(len(text), len(text) + len(part.form))] * part.n_words
        text += part.form + part.after
    return text.rstrip(" "), tuple(spans)
