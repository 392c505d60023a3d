"""Chunks as in CoNLL-2000 (.conll2000; its train.txt with the kind "conll2000"): word, tag and chunk between blanks.

So is CoNLL-2003: its fourth column, of named entities, is not read, and its `-DOCSTART-` begins a document. Words stand
between blanks, with the brackets and quotation marks that the Penn Treebank escapes.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.parsing.sentence_blocks import Block, between_empty, example
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad, Skipped
from headscope.corpora.readers.penn import unescaped, upos
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES = (".conll2000",)
DOCUMENT, WITH_ENTITIES = "-DOCSTART-", 4
Row = tuple[str, str, str]


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence with its chunks; one that has a bad line is bad."""
    cursor = options.cursor or Cursor()
    for block in between_empty(lines(source, cursor=cursor)):
        if isinstance(block, Bad):
            yield block
            continue
        if block[0][1].startswith(DOCUMENT):
            cursor.known = (f"{Path(source).name}:{block[0][0]}",)
            block = block[1:]
        if block and len(block[0][1].split()) == WITH_ENTITIES:
            yield Skipped("sentences of which named entities are not read")
        if block:
            yield example(source, block, partial(_sentence, document=(cursor.known or ("",))[0]))


def _row(number: int, line: str) -> Row:
    columns = line.split()
    if len(columns) not in (WITH_ENTITIES - 1, WITH_ENTITIES):
        raise Bad(number, f"{len(columns)} columns, expected word, tag and chunk, separated by blanks")
    form, tag, chunk, *_ = columns
    if chunk != "O" and chunk[:2] not in ("B-", "I-"):
        raise Bad(number, f"chunk '{chunk[:40]}' is neither O nor B-KIND nor I-KIND")
    return unescaped(form), upos(tag), chunk


def _sentence(block: Block, document: str) -> Sentence:
    rows = [_row(number, line) for number, line in block]
    text, words = joined([form for form, _, _ in rows])
    return Sentence(
        text,
        words=words,
        upos=tuple(tag for _, tag, _ in rows),
        chunks=tuple(chunk for _, _, chunk in rows),
        document=document,
    )
