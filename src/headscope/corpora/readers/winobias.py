"""WinoBias (Zhao et al. 2018): sentences of two occupations and a pronoun; CORPUS is the folder of its files.

A file has one numbered sentence a line, whose coreferent mentions stand in square brackets. In "pro" files the pronoun
has the gender that most people of the occupation have, in "anti" files the other one; lines of the same number are
partners. The other occupation is found by the lists `male_occupations.txt` and `female_occupations.txt`.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from headscope.corpora.options import Options
from headscope.corpora.parsing.lines import lines
from headscope.corpora.parsing.words import Span, within, words
from headscope.corpora.problems import Bad, Skipped, parsed, refuse_long
from headscope.corpora.readers.winogender import PRONOUNS
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example, Question, Sentence
from headscope.storage.limits import MOST_MENTIONS

SUFFIXES: tuple[str, ...] = ()
TYPES = ("type1", "type2")
LISTS = ("male_occupations.txt", "female_occupations.txt")
BRACKET = re.compile(r"\[([^][]*)\]")
NUMBER = re.compile(r"(\d+)\s+")
GENDERED = PRONOUNS["male"] | PRONOUNS["female"]


def locate(source: str, options: Options) -> list[str]:
    """The pro and the anti file of a folder: of `options.task` (type1, type2; None: both) and `options.split` (dev).

    Raises `HeadscopeError` if one is missing.
    """
    path = Path(source)
    if options.task and options.task not in TYPES:
        raise HeadscopeError(f"corpus '{source}': no type '{options.task}' in WinoBias; there are: {', '.join(TYPES)}")
    folder = path if path.is_dir() else path.parent
    names = [
        f"{kind}_stereotyped_{number}.txt.{options.split or 'dev'}"
        for number in TYPES
        for kind in ("pro", "anti")
        if options.task in (None, number)
    ]
    files = [path] if path.is_file() else [folder / name for name in names]
    for file in [*files, *(folder / name for name in LISTS)]:
        if not file.is_file():
            raise HeadscopeError(f"corpus '{source}': no file '{file.name}' in it; name the folder of WinoBias")
    return [str(file) for file in files]


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each sentence, with the question whom its first pronoun refers to: the first candidate is the right one."""
    path = Path(source)
    occupations = _occupations(path.parent)
    numbered = ((line, text.strip()) for line, text in lines(source, cursor=options.cursor) if text.strip())
    yield from parsed(numbered, lambda row: _example(*row, path.name, occupations))


def _example(line: int, numbered: str, file: str, occupations: re.Pattern[str]) -> Example:
    refuse_long(numbered, line)
    number = NUMBER.match(numbered)
    if not number:
        raise Bad(line, "the line does not begin with the number of its sentence")
    text, spans = unbracketed(numbered[number.end() :], line)
    pronouns = [span for span in spans if text[slice(*span)].lower() in GENDERED]
    named = [span for span in spans if span not in pronouns]
    if not (pronouns and named):
        raise Bad(line, "no pronoun, or no occupation, stands in square brackets")
    mentions = (pronouns[0], named[0], _other(text, spans, named[0], occupations, line))
    parts = words(text, mentions)
    pronoun, *candidates = (within(parts, span, line) for span in mentions)
    kind, _, name = file.partition("_")
    partner = (kind, f"{name}:{number[1]}") if kind in ("pro", "anti") else ()
    return Example(
        f"{file}:{line}", (Sentence(text, parts, question=Question(pronoun, tuple(candidates), 0, *partner)),)
    )


def _other(text: str, spans: list[Span], named: Span, occupations: re.Pattern[str], line: int) -> Span:
    """The first occupation outside of the brackets that is not the one that is named in them."""
    antecedent = text[slice(*named)].lower()
    for match in occupations.finditer(text):
        inside = any(start <= match.start() < end for start, end in spans)
        if not inside and not antecedent.endswith(match[0].lower()):
            return match.span()
    raise Bad(line, "no second occupation of the lists stands in the sentence")


def unbracketed(text: str, line: int) -> tuple[str, list[Span]]:
    """A text without its square brackets, and the characters [start, end) that stood in each.

    Raises `Bad` if a bracket has no partner, or there are more than 100.

    >>> unbracketed("[The cook] ate; [she] left.", 1)
    ('The cook ate; she left.', [(0, 8), (14, 17)])
    """
    if text.count("[") > MOST_MENTIONS:
        raise Bad(line, f"{text.count('[')} mentions stand in square brackets, expected at most {MOST_MENTIONS}")
    plain, spans, at = "", [], 0
    for match in BRACKET.finditer(text):
        plain += text[at : match.start()]
        spans.append((len(plain), len(plain) + len(match[1])))
        plain, at = plain + match[1], match.end()
    plain += text[at:]
    if "[" in plain or "]" in plain:
        raise Bad(line, "a square bracket has no partner")
    return plain, spans


@cache
def _occupations(folder: Path) -> re.Pattern[str]:
    """A pattern of all listed occupations, longer ones first."""
    names = {text.strip() for name in LISTS for _, text in lines(str(folder / name)) if text.strip()}
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})\b", re.IGNORECASE)
