"""The characters of the words of a CoNLL-U sentence in its text, and its mentions (MISC column `Entity`).

A mention opens as "(e1-person-..." and closes as "e1)"; "(e1-person)" is one word. The comment `# global.Entity`
names the field that is the entity: "eid" (CorefUD) or "GRP" (GUM); a corpus with neither has entities and no
coreference. Left out and counted are entities without such a field, the parts of discontinuous mentions ("e1[1/2]"),
mentions of empty nodes alone, and mentions that do not open and close in one sentence.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from headscope.corpora.parsing.conllu_rows import Block, ConlluRow
from headscope.corpora.parsing.words import after_blanks, located
from headscope.corpora.problems import Bad
from headscope.linguistics.sentence import Mention

Spans = tuple[tuple[int, int], ...]
GROUP, KIND = ("eid", "GRP"), ("etype",)
BRACKET = re.compile(r"\((?P<open>[^()]+)(?P<single>\))?|(?P<close>[^()]+)\)")


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


def position(names: tuple[str, ...], declared: str) -> int | None:
    """The position, from 0, of the first of some names among the fields of `# global.Entity`; None if there is none.

    >>> position(GROUP, "etype-GRP-infstat"), position(KIND, "GRP-etype"), position(GROUP, "etype-identity")
    (1, 1, None)
    """
    fields = declared.split("-")
    return next((fields.index(name) for name in names if name in fields), None)


def mentions(block: Block, declared: str) -> tuple[tuple[Mention, ...] | None, Counter[str]]:
    """Read the mentions of a sentence; `declared`: the fields of a bracket.

    Returns: the mentions, in their order, None where no field is the entity; and counts of those that were left out.

    Raises `Bad` if an `Entity` is not a row of brackets.
    """
    field, kind = position(GROUP, declared), position(KIND, declared)
    if field is None:
        return None, +Counter(
            {"entity without a group": sum(row.misc.get("Entity", "").count("(") for row in block.rows)}
        )
    complete: list[Mention] = []
    skipped: Counter[str] = Counter()
    opened: dict[str, list[tuple[int, str]]] = {}
    n_words = 0
    for row in block.rows:
        start = n_words
        n_words += isinstance(row.id, int)
        for bracket in _brackets(row):
            fields = (bracket["open"] or bracket["close"]).split("-")
            entity = fields[field] if field < len(fields) else fields[0]
            if bracket["open"]:
                words = fields[kind] if kind is not None and kind < len(fields) else ""
                opened.setdefault(entity, []).append((start, words))
            if bracket["single"] or bracket["close"]:
                _close(entity, opened, n_words, complete, skipped)
    skipped["unclosed mention"] += sum(map(len, opened.values()))
    return tuple(sorted(complete, key=lambda mention: (mention.start, -mention.end))), +skipped


def _brackets(row: ConlluRow) -> list[re.Match[str]]:
    value = row.misc.get("Entity", "")
    brackets = list(BRACKET.finditer(value))
    if "".join(match[0] for match in brackets) != value:
        raise Bad(row.line, f"Entity '{value}' is not made of '(entity-...', 'entity)' and '(entity-...)'")
    return brackets


def _close(
    entity: str, opened: dict[str, list[tuple[int, str]]], end: int, complete: list[Mention], skipped: Counter[str]
) -> None:
    if not opened.get(entity):
        skipped["unopened mention"] += 1
        return
    start, kind = opened[entity].pop()
    if entity.endswith("]"):
        skipped["part of a discontinuous mention"] += 1
    elif start == end:
        skipped["mention without words"] += 1
    else:
        complete.append(Mention(entity, start, end, kind))
