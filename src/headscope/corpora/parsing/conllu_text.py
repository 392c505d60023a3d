"""The characters that each word of a CoNLL-U sentence covers in its text."""

from collections.abc import Iterator
from typing import NamedTuple

from headscope.corpora.parsing.conllu_rows import Block, ConlluRow
from headscope.corpora.parsing.words import after_blanks, located

Spans = tuple[tuple[int, int], ...]


class Token(NamedTuple):
    """A stretch of text: its form, the forms of its words, and the blank after it, if any.

    >>> Token("don't", ("do", "n't"), " ").spans(10), Token("zum", ("zu", "dem"), " ").spans(10)
    ([(10, 12), (12, 15)], [(10, 13), (10, 13)])
    >>> Token("may be", ("may", "be"), " ").spans(10)
    [(10, 13), (14, 16)]
    """

    form: str
    words: tuple[str, ...]
    after: str

    def spans(self, start: int) -> list[tuple[int, int]]:
        """The characters of each word: its own where the form has just these words, blanks aside, else all of them."""
        spans = located(self.form, self.words) or [(0, len(self.form))] * len(self.words)
        return [(start + first, start + last) for first, last in spans]


def tokens(rows: list[ConlluRow]) -> Iterator[Token]:
    """The stretches of text: a range of words is one, empty nodes are none."""
    forms = {row.id: row.form for row in rows}
    covered = 0
    for row in rows:
        after = "" if row.misc.get("SpaceAfter") == "No" else " "
        if isinstance(row.id, int) and row.id > covered:
            yield Token(row.form, (row.form,), after)
        elif isinstance(row.id, tuple) and row.id[1] == "-":
            first, _, covered = row.id
            yield Token(row.form, tuple(forms.get(word, "") for word in range(first, covered + 1)), after)


def text_and_spans(block: Block) -> tuple[str, Spans]:
    """The text of a sentence and the characters of each word; see `Token.spans` for the words of a range.

    The text is that of the comment `# text`; where it is missing or has other words, it is made from the forms.
    """
    parts = list(tokens(block.rows))
    text = block.comments.get("text", "")
    spans = find(text, parts)
    return (text, spans) if spans is not None else build(parts)


def find(text: str, parts: list[Token]) -> Spans | None:
    """The characters of each word in a text; None if the text has other words.

    >>> find("Geht  zum", [Token("Geht", ("Geht",), " "), Token("zum", ("zu", "dem"), "")])
    ((0, 4), (6, 9), (6, 9))
    """
    spans, at = [], 0
    for part in parts:
        at = after_blanks(text, at)
        if not text.startswith(part.form, at):
            return None
        spans += part.spans(at)
        at += len(part.form)
    return None if text[at:].strip() else tuple(spans)


def build(parts: list[Token]) -> tuple[str, Spans]:
    """A text made from the forms, and the characters of each word in it.

    >>> build([Token("zum", ("zu", "dem"), " "), Token("Haus", ("Haus",), ""), Token(".", (".",), " ")])
    ('zum Haus.', ((0, 3), (0, 3), (4, 8), (8, 9)))
    """
    text, spans = "", []
    for part in parts:
        spans += part.spans(len(text))
        text += part.form + part.after
    return text.rstrip(" "), tuple(spans)
