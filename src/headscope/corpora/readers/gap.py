"""GAP (Webster et al. 2018): passages of Wikipedia in which a pronoun refers to one of two names, or to neither (.tsv).

Offsets are characters. The passages come without words and trees: words are those of Unicode.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from headscope.corpora.options import Options
from headscope.corpora.parsing.words import Span, within, words
from headscope.corpora.problems import Bad, Skipped, parsed, refuse_long, whole_number
from headscope.corpora.readers.table import Row, tsv
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Question, Sentence

SUFFIXES: tuple[str, ...] = ()
COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")
COREFERENT = {"TRUE": True, "FALSE": False}


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each passage, with the question whom its pronoun refers to: the names A and B are the candidates.

    Raises `HeadscopeError` if a column is missing.
    """
    return parsed(tsv(source, cursor=options.cursor), partial(_example, source))


def _example(source: str, numbered: Row) -> Example:
    line, fields = numbered
    if missing := [name for name in COLUMNS if name not in fields]:
        raise HeadscopeError(f"corpus '{source}': no column {', '.join(map(repr, missing))}; GAP has them all")
    row = {name: str(fields[name]) for name in COLUMNS}
    text = row["Text"]
    refuse_long(text, line)
    pronoun, *names = (_span(text, row, name, line) for name in ("Pronoun", "A", "B"))
    parts = words(text, [pronoun, *names])
    candidates = tuple(within(parts, name, line) for name in names)
    question = Question(within(parts, pronoun, line), candidates, _answer(row, line))
    return Example(row["ID"], (Sentence(text, parts, question=question),))


def _span(text: str, row: Mapping[str, str], name: str, line: int) -> Span:
    """The characters of the pronoun or a name, which must stand at its offset."""
    form, start = row[name], whole_number(row[f"{name}-offset"], line, f"{name}-offset")
    end = start + len(form)
    if end > len(text):
        raise Bad(line, f"{name}-offset '{start}' of '{form}' is not in the text of {len(text)} characters")
    if text[start:end] != form:
        raise Bad(line, f"{name} is '{form}', but at its offset {start} stands '{text[start:end]}'")
    return start, end


def _answer(row: Mapping[str, str], line: int) -> int | None:
    """The number of the name that the pronoun refers to, from 0; None for neither."""
    for name in ("A-coref", "B-coref"):
        if row[name] not in COREFERENT:
            raise Bad(line, f"{name} is '{row[name]}', expected TRUE or FALSE")
    right = [number for number, name in enumerate(("A-coref", "B-coref")) if COREFERENT[row[name]]]
    if right[1:]:
        raise Bad(line, "A-coref and B-coref are both TRUE; at most one of them can be")
    return right[0] if right else None
