"""Sentences of a CoNLL-U file as rows, with the line that each stands on, and columns of their words, checked.

The first line of CoNLL-U Plus names its columns (`# global.columns = ID FORM ... PARSEME:MWE`), in any order; those of
CoNLL-U that it lacks are empty, and without ID words are numbered as they stand.
"""

import re
import sys
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import parse_comment_line, parse_id_value

from headscope.corpora.parsing.json_lines import first_repeated
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.parsing.sentence_blocks import between_empty
from headscope.corpora.problems import Bad, is_whole_number
from headscope.errors import HeadscopeError
from headscope.linguistics.spanning_tree import cycle

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
DECLARED = re.compile(r"#\s*global\.columns\s*=\s*(.*)")


class ConlluRow(NamedTuple):
    """One line of a sentence: a word (`id` 3), a range of words (3, "-", 4) or an empty node (3, ".", 1)."""

    line: int
    id: int | tuple[int, str, int]
    form: str
    lemma: str
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
    """The sentences of a file, each checked for its columns and the order of its ids.

    Raises `HeadscopeError` if the file names its columns, and none of them is FORM.
    """
    columns = _columns(source)
    for raw in between_empty(lines(source, cursor=cursor)):
        try:
            yield raw if isinstance(raw, Bad) else _block(raw, columns)
        except Bad as bad:
            yield bad


def newdoc(block: Block, file: str) -> str:
    """The document that a sentence begins, by its name or its place in the file; empty for one that begins none."""
    comments = block.comments
    is_first = "newdoc id" in comments or "newdoc" in comments
    return (comments.get("newdoc id") or f"{file}:{block.line}") * is_first


def _columns(source: str) -> tuple[str, ...]:
    """The names of the columns: those of the first line, or those of CoNLL-U."""
    declared = DECLARED.fullmatch(next(lines(source), (1, ""))[1].strip())
    columns = tuple(declared[1].split()) if declared else COLUMNS
    if "FORM" not in columns or first_repeated(columns):
        raise HeadscopeError(
            f"corpus '{source}', line 1: global.columns '{' '.join(columns)[:80]}' needs FORM, and each name once"
        )
    return columns


def _block(raw: list[tuple[int, str]], names: tuple[str, ...]) -> Block:
    comments = dict(pair for _, line in raw if line.startswith("#") for pair in parse_comment_line(line))
    words = [(number, line) for number, line in raw if not line.startswith("#")]
    rows = [_row(number, line, names, index) for index, (number, line) in enumerate(words, 1)]
    _check_ids(rows)
    return Block(raw[0][0], {key: value or "" for key, value in comments.items()}, rows)


def _row(number: int, line: str, names: tuple[str, ...], index: int) -> ConlluRow:
    """The row of a line, whose columns have these names; `index`: its id where no column is one."""
    # conllu's own parse_line would also split at two blanks inside a form, and cut MISC values at a second "="
    columns = line.split("\t")
    if len(columns) != len(names):
        format = "CoNLL-U" if names is COLUMNS else "global.columns"
        plus = "; those of CoNLL-U Plus are named in its first line: # global.columns = ID FORM ..."
        plus = plus if names is COLUMNS and len(columns) > len(names) else ""
        raise Bad(number, f"{len(columns)} columns, expected the {len(names)} of {format}, separated by tabs{plus}")
    if names is not COLUMNS:
        columns = list(map({"ID": str(index), **dict(zip(names, columns, strict=True))}.get, COLUMNS, repeat("_")))
    word_id, form, lemma, upos, _, feats, head, deprel, _, misc = columns
    if not form.strip():
        raise Bad(number, f"word '{word_id}' has no form")
    try:
        id = parse_id_value(word_id)
    except (ParseException, ValueError) as error:  # ValueError: thousands of digits
        raise Bad(number, f"id '{word_id[:20]}' is not a word, a range or an empty node") from error
    values = named_values(misc)
    return ConlluRow(number, 0 if id is None else id, form, lemma, upos, sys.intern(feats), head, deprel, values)


def named_values(text: str) -> dict[str, str]:
    """The values of a column by their names (FEATS, MISC).

    >>> named_values("Number=Sing|Person=3"), named_values("_")
    ({'Number': 'Sing', 'Person': '3'}, {})
    """
    return dict(part.split("=", 1) for part in text.split("|") if "=" in part)


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

    Raises `Bad` if a head is not among the words, if there is not one root, or if there is a cycle.
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
