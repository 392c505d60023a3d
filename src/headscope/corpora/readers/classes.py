"""Words with a class each (kind "classes"): word, tab, class, such as a region of a protein; a blank line ends a text.

A line `# NAME` names the document. Words of a letter each stand as in FASTA; others with blanks between them.
"""

from collections.abc import Iterator
from functools import partial

from headscope.corpora.options import Options
from headscope.corpora.parsing.sentence_blocks import Block, sentences
from headscope.corpora.parsing.words import joined
from headscope.corpora.problems import Bad
from headscope.corpora.readers.fasta import reads_letters
from headscope.linguistics.sentence import Example, Sentence

SUFFIXES: tuple[str, ...] = ()
NONE = "_"
COMMENT = "# "


def examples(source: str, options: Options) -> Iterator[Example | Bad]:
    """Each text with the classes of its words, `_` for none; one that has a bad line is bad."""
    yield from sentences(source, partial(_sentence, letters=reads_letters(options.offsets)), options.cursor)


def _sentence(block: Block, letters: bool) -> Sentence:
    name = block[0][1].removeprefix(COMMENT).strip() if block[0][1].startswith(COMMENT) else f"line {block[0][0]}"
    rows = [_row(number, line) for number, line in block if not line.startswith(COMMENT)]
    forms, classes = [form for form, _ in rows], tuple("" if of == NONE else of for _, of in rows)
    text, words = joined(forms, "" if letters and all(len(form) == 1 for form in forms) else " ")
    return Sentence(text, words, document=name, classes=classes)


def _row(number: int, line: str) -> tuple[str, str]:
    columns = [column.strip() for column in line.split("\t")]
    if len(columns) != 2 or not all(columns):
        raise Bad(number, f"{len(columns)} columns, expected a word and its class ('_' for none), with a tab between")
    return columns[0], columns[1]
