"""Options of reading a corpus, and the reader of a source."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from headscope import catalog
from headscope.corpora.parsing.lines import Cursor, lines, suffix
from headscope.errors import HeadscopeError, nearest, suggest

Offsets = Callable[[str], list[tuple[int, int]]]
LINES, LEAST = 200, 4
TAG = re.compile(r"O|[BIESLU]-\S+")
# Which kind reads them, by the number of columns and whether these are tags.
CHUNKS, TREEBANK, ONTONOTES = 3, 10, 12


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of reading a corpus; each reader uses those that concern it.

    * `kind`: the reader; None tells it from the source.
    * `columns`: of a table, "FIRST,SECOND,LABEL" ("text", "premise,hypothesis", "sentence,,label"); numbers
      ("4,,2", from 1) mean that the table has no header. None guesses from the header.
    * `document`: the column of a table that names the document of a row: intervals are then over documents.
    * `skip_bad`: leave out and count what cannot be read, instead of raising.
    * `limit`: read this many examples, drawn evenly over documents or labels, by a fixed seed; of a stream the first.
    * `whole_documents`: a limit takes whole documents, for what is read across sentences.
    * `from_first`: of a large file a limit draws from its first 20,000 examples (or ten for each), not from all.
    * `annotate`: an installed spaCy pipeline that annotates sentences without words.
    * `task`, `split`: of a GLUE folder ("mrpc", "dev"); `split` also of a hub data set.
    * `segment`: most tokens of a pair of paragraphs, special tokens included.
    * `offsets`: characters [start, end) of the pieces of a text, by the tokenizer; `read` sets it.
    * `cursor`: from where a reader of lines begins; `read` sets it, too.

    >>> Options(columns="sentence,,label").limit is None
    True
    """

    kind: str | None = None
    columns: str | None = None
    document: str | None = None
    skip_bad: bool = False
    limit: int | None = None
    whole_documents: bool = False
    from_first: bool = True
    annotate: str | None = None
    task: str | None = None
    split: str | None = None
    segment: int = 128
    offsets: Offsets | None = None
    cursor: Cursor | None = None


DEFAULTS = Options()


def with_keywords(options: Options, keywords: Mapping[str, Any]) -> Options:
    """The options with those that are given by name, columns also as a list; `HeadscopeError` for another name.

    >>> with_keywords(DEFAULTS, {"columns": ["sentence", "", "label"]}).columns
    'sentence,,label'
    """
    names = [option.name for option in fields(Options)]
    if unknown := next((name for name in keywords if name not in names), ""):
        raise HeadscopeError(f"option '{unknown}' of a corpus is unknown; {suggest(unknown, names)}")
    columns = keywords.get("columns")
    joined = {"columns": ",".join(map(str, columns))} if isinstance(columns, list | tuple) else {}
    return replace(options, **{**keywords, **joined})


def tell(source: str, options: Options) -> tuple[str, str]:
    """The kind of a source, and the source without its kind.

    `options.kind` comes first, then a kind before a colon, then the suffix.

    Raises `HeadscopeError` if the kind is unknown or cannot be told.

    >>> tell("hub:nyu-mll/glue:mrpc", Options())
    ('hub', 'nyu-mll/glue:mrpc')
    >>> tell("dev.tsv.gz", Options())
    ('table', 'dev.tsv.gz')
    """
    kinds = catalog.names("corpora/readers")
    prefix, _, rest = source.partition(":")
    if options.kind and options.kind not in kinds:
        raise HeadscopeError(f"corpus kind '{options.kind}' is unknown; {suggest(options.kind, kinds)}")
    if prefix in kinds and options.kind in (None, prefix):
        return prefix, rest or source
    return options.kind or _by_suffix(source, kinds), source


def existing(source: str, options: Options) -> list[str]:
    """The source itself, once it is known to be a file.

    Raises `HeadscopeError` with near-miss names of its folder if it is not.
    """
    path = Path(source)
    if path.is_file():
        return [source]
    if path.is_dir():
        raise HeadscopeError(
            f"corpus '{source}' is a folder; name a file of it, or its --kind: table, glue, hub or penn"
        )
    if os.path.lexists(source):
        raise HeadscopeError(f"corpus '{source}' is a pipe, a device or a link that leads nowhere; name a plain file")
    there = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    hint = suggest(path.name, sorted(there), remedy="name a file, or 'sample'")
    raise HeadscopeError(f"corpus '{source}' does not exist; {hint}")


def in_folder(source: str, pattern: str) -> list[str]:
    """The files of a folder whose names fit a pattern, in the order of their names; none if it is no folder."""
    folder = Path(source)
    return [str(path) for path in sorted(folder.iterdir()) if path.match(pattern)] if folder.is_dir() else []


def _likely(unknown: str, suffixes: Mapping[str, str]) -> str:
    """The nearest suffix and its kind, for an error; "" where none is near.

    >>> _likely(".tvs", {".tsv": "table"}), _likely(".md", {".tsv": "table"})
    ("did you mean '.tsv' (kind 'table')? ", '')
    """
    near = nearest(unknown, suffixes, cutoff=0.7)
    return f"did you mean '{near}' (kind '{suffixes[near]}')? " if near else ""


def _by_suffix(source: str, kinds: list[str]) -> str:
    suffixes = {ending: kind for kind in kinds for ending in catalog.load("corpora/readers", kind).SUFFIXES}
    if suffix(source) in suffixes:
        if suffixes[suffix(source)] == "text" and Path(source).is_file():
            refuse_columns(source)
        return suffixes[suffix(source)]
    existing(source, Options())
    raise HeadscopeError(
        f"corpus '{source}': suffix '{suffix(source)}' is not one of {', '.join(suffixes)}; "
        f"{_likely(suffix(source), suffixes)}name its kind with --kind: {', '.join(kinds)}"
    )


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
    rows = [row for row in rows if row.strip() and not row.startswith(("#", "-DOCSTART-"))]
    words = [row.split("\t") if "\t" in row else row.split() for row in rows]
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
