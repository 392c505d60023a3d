"""CoNLL-2012 (OntoNotes; *_conll, or a folder of them): documents with parts of speech, parses and coreference.

Words stand between blanks. Heads are made from the parses (`parsing.bracketed_phrases`), relations there are none.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from headscope.corpora.options import Options, existing
from headscope.corpora.parsing.bracketed_phrases import constituents_of, heads_of, tree_of
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.parsing.sentence_blocks import Block, OpenBlock, example
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad
from headscope.corpora.readers.penn import ESCAPED, upos
from headscope.linguistics.sentence import Example, Mention, Sentence
from headscope.storage.files import files_within

SUFFIXES = (".v4_gold_conll", ".v4_auto_conll", ".v9_gold_conll", ".v9_auto_conll", ".gold_conll", ".auto_conll")
BEGIN = re.compile(r"#begin document \((?P<name>.*)\);(?: part (?P<part>\d+))?\s*")
BRACKET = re.compile(r"(?P<open>\()?(?P<entity>\d+)(?P<close>\))?")
LEAST_COLUMNS = 12
NOTHING = {"-", "_", "*"}  # what a column has where it has nothing


class Conll2012Row(NamedTuple):
    """A word: the number of its line, and the columns that are read."""

    line: int
    form: str
    tag: str
    parse: str
    coreference: str


def locate(source: str, options: Options) -> list[str]:
    """The file itself, or all files under a folder whose names end in _conll, in the order of their names."""
    files = [str(path) for path in files_within(Path(source), "*_conll", leave=True)]
    return files or existing(source, options)


def examples(source: str, options: Options) -> Iterator[Example | Bad]:
    """Each sentence, with its mentions; entities are those of a part of a document."""
    cursor = options.cursor or Cursor()
    opened = OpenBlock()
    for number, line in chain(lines(source, cursor=cursor), [(0, "")]):
        if line.strip() and not line.startswith("#"):
            if bad := opened.add(number, line):
                yield bad
            continue
        scope, cursor.known = cursor.known, _scope(line, cursor.known)
        if block := opened.take():
            yield example(source, block, partial(_sentence, scope=scope))


def _scope(line: str, before: tuple[str, ...]) -> tuple[str, ...]:
    """The document that a line begins, or the one that it is in; empty outside of documents."""
    if begin := BEGIN.fullmatch(line):
        return (f"{begin['name']}; part {begin['part'] or '000'}",)
    return () if line.startswith("#end document") else before


def _sentence(block: Block, scope: tuple[str, ...]) -> Sentence:
    rows = [_row(number, line) for number, line in block]
    if not scope:
        raise Bad(rows[0].line, "the sentence stands outside of '#begin document (NAME); part 000' and '#end document'")
    text, words = joined([row.form for row in rows])
    tags = [row.tag for row in rows]
    parse = tree_of([row.parse for row in rows], tags, rows[0].line)
    return Sentence(
        text,
        words=words,
        upos=tuple(map(upos, tags)) if set(tags) - NOTHING else (),
        heads=heads_of(parse, len(rows)),
        **constituents_of(parse)._asdict(),
        mentions=_mentions(rows),
        document=scope[0],
    )


def _row(number: int, line: str) -> Conll2012Row:
    columns = line.split()
    if len(columns) < LEAST_COLUMNS:
        raise Bad(number, f"{len(columns)} columns, expected the {LEAST_COLUMNS} or more of CoNLL-2012")
    form = ESCAPED.get(columns[3], columns[3])
    # OntoNotes writes some signs with a slash before them: /. and /?
    form = form[1:] if len(form) == 2 and form[0] == "/" else form
    return Conll2012Row(number, form, columns[4], columns[5], columns[-1])


def _mentions(rows: list[Conll2012Row]) -> tuple[Mention, ...]:
    """The mentions in their order. Raises `Bad` for a mention that does not open and close in the sentence."""
    complete: list[Mention] = []
    opened: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        for bracket in _brackets(row):
            entity = bracket["entity"]
            if bracket["open"]:
                opened.setdefault(entity, []).append(index)
            if bracket["close"]:
                if not opened.get(entity):
                    raise Bad(row.line, f"mention '{entity})' closes and was not opened in its sentence")
                complete.append(Mention(entity, opened[entity].pop(), index + 1))
    for entity, starts in opened.items():
        if starts:
            raise Bad(rows[starts[-1]].line, f"mention '({entity}' opens and is not closed in its sentence")
    return tuple(sorted(complete, key=lambda mention: (mention.start, -mention.end)))


def _brackets(row: Conll2012Row) -> list[re.Match[str]]:
    if row.coreference in NOTHING:
        return []
    parts = [BRACKET.fullmatch(part) for part in row.coreference.split("|")]
    brackets = [match for match in parts if match and (match["open"] or match["close"])]
    if len(brackets) != len(parts):
        raise Bad(row.line, f"coreference '{row.coreference}' is not made of '(12', '12)' and '(12)', parted by '|'")
    return brackets
