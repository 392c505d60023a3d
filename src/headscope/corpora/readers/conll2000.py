"""Chunks as in CoNLL-2000 (.conll2000; its train.txt with the kind "conll2000"): word, tag and chunk between blanks.

Words stand between blanks, with the brackets and quotation marks that the Penn Treebank escapes.
"""

from collections.abc import Iterator

from headscope.corpora.options import Options
from headscope.corpora.parsing.sentence_blocks import sentences
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad
from headscope.corpora.readers.penn import unescaped, upos
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES = (".conll2000",)
Row = tuple[str, str, str]


def examples(source: str, options: Options) -> Iterator[Example | Bad]:
    """Each sentence with its chunks; one that has a bad line is bad."""
    return sentences(source, lambda block: _sentence([_row(number, line) for number, line in block]), options.cursor)


def _row(number: int, line: str) -> Row:
    columns = line.split()
    if len(columns) != 3:
        raise Bad(number, f"{len(columns)} columns, expected word, tag and chunk, separated by blanks")
    form, tag, chunk = columns
    if chunk != "O" and chunk[:2] not in ("B-", "I-"):
        raise Bad(number, f"chunk '{chunk[:40]}' is neither O nor B-KIND nor I-KIND")
    return unescaped(form), upos(tag), chunk


def _sentence(rows: list[Row]) -> Sentence:
    text, words = joined([form for form, _, _ in rows])
    return Sentence(
        text,
        words=words,
        upos=tuple(tag for _, tag, _ in rows),
        chunks=tuple(chunk for _, _, chunk in rows),
    )
