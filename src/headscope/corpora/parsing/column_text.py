"""Files of words in columns that are named as plain text (.txt), as CoNLL-2000, CoNLL-2003 and treebanks often are."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from headscope.corpora.parsing.lines import lines
from headscope.errors import HeadscopeError

LINES, LEAST = 200, 4
TAG = re.compile(r"O|[BIESLU]-\S+")
# Which kind reads them, by the number of columns and whether these are tags.
CHUNKS, TREEBANK, ONTONOTES = 3, 10, 12


def refuse_columns(source: str) -> None:
    """Raise `HeadscopeError` for a text whose lines are words in columns: to read it as prose, one has to say so."""
    state = Path(source).stat()
    if not (kind := _kind_of(source, state.st_mtime_ns, state.st_size)):
        return
    remedy = "save its words as sentences, one a line" if kind == "text" else f"name its kind, '{kind}', with --kind"
    raise HeadscopeError(
        f"corpus '{source}' has a word with its annotation on each line, and would be read as prose; {remedy}, or "
        "'text' if each line is a text of its own"
    )


@lru_cache(maxsize=64)
def _kind_of(source: str, modified: int, size: int) -> str:
    """The kind of a file in a state, whose lines are looked at once."""
    return kind_of_columns([line.rstrip() for _, line in islice(lines(source), LINES)])


def kind_of_columns(rows: Sequence[str]) -> str:
    """The kind of a file of columns by its first lines, "text" where no kind reads it; "" for prose.

    >>> kind_of_columns(["EU NNP B-NP", "rejects VBZ B-VP", "calls NNS I-NP", ". . O"])
    'conll2000'
    >>> kind_of_columns(["EU B-ORG", "rejects O", "calls O", ". O"]), kind_of_columns(["I saw O", "We saw B-A"] * 2)
    ('text', 'conll2000')
    >>> kind_of_columns(["He slept .", "She read .", "It rained .", "We left ."])
    ''
    """
    if any(row.startswith("#begin document") for row in rows):
        return "conll2012"
    words = [row.split("\t") if "\t" in row else row.split() for row in rows if _is_word(row)]
    numbers = {len(columns) for columns in words}
    if len(words) < LEAST or numbers & {0, 1} or len(numbers) != 1:
        return ""
    (number,) = numbers
    if all(columns[0].partition("-")[0].partition(".")[0].isdecimal() for columns in words):
        first_rows = sum(columns[0] == "1" for columns in words)
        return ("conllu" if number == TREEBANK else "text") if first_rows and number >= CHUNKS else ""
    if all(TAG.fullmatch(columns[-1]) for columns in words):
        return "conll2000" if number in (CHUNKS, CHUNKS + 1) else "conll2012" if number >= ONTONOTES else "text"
    return ""


def _is_word(row: str) -> bool:
    return bool(row.strip()) and not row.startswith(("#", "-DOCSTART-"))
