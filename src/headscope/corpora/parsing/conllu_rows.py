"""Sentences of a CoNLL-U file as rows, with the line that each stands on, and columns of their words, checked."""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import parse_comment_line, parse_id_value

from headscope.corpora.parsing.limits import is_whole_number
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.parsing.sentence_blocks import between_empty
from headscope.corpora.problems import Bad
from headscope.linguistics.spanning_tree import cycle


class ConlluRow(NamedTuple):
    """One line of a sentence: a word (`id` 3), a range of words (3, "-", 4) or an empty node (3, ".", 1)."""

    line: int
    id: int | tuple[int, str, int]
    form: str
    upos: str
    morphology: str
    head: str
    deprel: str
    misc: dict[str, str]


class Block(NamedTuple):
    """A sentence: the number of its first line, its comments and its rows."""

    line: int
    comments: dict[str, str]
    rows: list[ConlluRow]

    @property
    def words(self) -> list[ConlluRow]:
        return [row for row in self.rows if isinstance(row.id, int)]


def blocks(source: str, cursor: Cursor | None = None) -> Iterator[Block | Bad]:
    """The sentences of a file, each checked for its columns and the order of its ids."""
    for raw in between_empty(lines(source, cursor=cursor)):
        try:
            yield raw if isinstance(raw, Bad) else _block(raw)
        except Bad as bad:
            yield bad


def _block(raw: list[tuple[int, str]]) -> Block:
    comments = dict(pair for _, line in raw if line.startswith("#") for pair in parse_comment_line(line))
    rows = [_row(number, line) for number, line in raw if not line.startswith("#")]
    _check_ids(rows)
    return Block(raw[0][0], {key: value or "" for key, value in comments.items()}, rows)


def _row(number: int, line: str) -> ConlluRow:
    # conllu's own parse_line would also split at two blanks inside a form, and cut MISC values at a second "="
    columns = line.split("\t")
    if len(columns) != 10:
        raise Bad(number, f"{len(columns)} columns, expected the 10 of CoNLL-U, separated by tabs")
    if not columns[1].strip():
        raise Bad(number, f"word '{columns[0]}' has no form")
    try:
        id = parse_id_value(columns[0])
    except (ParseException, ValueError) as error:  # ValueError: thousands of digits
        raise Bad(number, f"id '{columns[0][:20]}' is not a word, a range or an empty node") from error
    misc = dict(part.split("=", 1) for part in columns[9].split("|") if "=" in part)
    return ConlluRow(
        number, 0 if id is None else id, columns[1], columns[3], sys.intern(columns[5]), columns[6], columns[7], misc
    )


def _check_ids(rows: list[ConlluRow]) -> None:
    n_words = covered = 0
    for row in rows:
        if isinstance(row.id, int):
            n_words += 1
            if row.id != n_words:
                raise Bad(row.line, f"word {row.id}, expected word {n_words}")
        elif row.id[1] == "-":
            if row.id[0] != n_words + 1 or covered > n_words:
                raise Bad(row.line, f"range {row.id[0]}-{row.id[2]} does not begin at the next word, {n_words + 1}")
            covered = row.id[2]
    if covered > n_words:
        raise Bad(rows[-1].line, f"a range ends at word {covered}, but the last word is {n_words}")


def column(words: list[ConlluRow], name: str) -> tuple[str, ...]:
    """A column of the words; empty where no word has a value.

    Raises `Bad` if some words have a value and others have none.
    """
    values = tuple(getattr(word, name) for word in words)
    missing = [word for word, value in zip(words, values, strict=True) if value == "_"]
    if len(missing) == len(words):
        return ()
    if missing:
        raise Bad(missing[0].line, f"word {missing[0].id} has no {name}, other words of its sentence have")
    return values


def morphology(words: list[ConlluRow]) -> tuple[str, ...]:
    """The morphological features of the words, "" for a word without any; empty where no word has one."""
    values = tuple("" if word.morphology == "_" else word.morphology for word in words)
    return values if any(values) else ()


def tree_of(words: list[ConlluRow]) -> tuple[int, ...]:
    """The head of each word, 0 for the root; empty where the sentence has no tree.

    Raises `Bad` if a head is none of the words, if there is not one root, or if there is a cycle.
    """
    if not column(words, "head"):
        return ()
    for word in words:
        if not (is_whole_number(word.head) and int(word.head) <= len(words)):
            raise Bad(word.line, f"word {word.id}: head '{word.head[:40]}' is not in 0..{len(words)}")
    tree = tuple(int(word.head) for word in words)
    roots = [word for word, head in enumerate(tree, 1) if head == 0]
    if len(roots) != 1:
        raise Bad(words[0].line, f"the sentence has {len(roots)} roots, expected 1")
    if looping := cycle(tree):
        raise Bad(words[looping - 1].line, f"word {looping} is in a cycle of heads")
    return tree
