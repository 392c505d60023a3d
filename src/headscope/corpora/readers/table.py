"""Tables of sentences or sentence pairs (.tsv, .csv, .jsonl, .parquet), or a folder of them (table:FOLDER)."""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import BinaryIO

from headscope.corpora.options import DEFAULTS, Options, existing
from headscope.corpora.parsing import columns, parquet
from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.parsing.lines import Cursor, lines, opened, suffix
from headscope.corpora.problems import Bad, Skipped
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example
from headscope.statistics.intervals import LEAST_DOCUMENTS
from headscope.storage.limits import LARGEST_FILE, LONGEST_LINE

SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
# A part of a split as the hub names it; with * all of them.
PART = re.compile(r"(.+)-(?:\d{5}|\*)-of-(\d{5})(\..+)")

Row = tuple[int, Mapping[str, object]]
Rows = Iterator[Row | Bad | Skipped]


def locate(source: str, options: Options) -> list[str]:
    """The file, or the tables of a folder in the order of their names, which are read one after the other.

    `train-*-of-00003.parquet` is all parts of a table, as the hub names them; none may be missing.
    """
    if (parts := PART.fullmatch(Path(source).name)) and "*" in parts[0]:
        return _parts(Path(source), parts)
    if not Path(source).is_dir():
        return existing(source, options)
    tables = sorted(str(path) for path in Path(source).iterdir() if suffix(path.name) in SUFFIXES)
    if not tables:
        raise HeadscopeError(f"corpus '{source}': no table in this folder; name one with {', '.join(SUFFIXES)} files")
    return tables


def split_file(folder: Path, names: Sequence[str]) -> Path | None:
    """The table of a split: a file of one of these names, or its parts as on the hub, also in a folder of their own.

    Parts have a name for all of them: `train-*-of-00003.parquet`. None where there is no table.
    """
    for name, ending, packed in product(names, SUFFIXES, ("", ".gz")):
        if (path := folder / f"{name}{ending}{packed}").is_file():
            return path
    for inner, name, ending in product(("", "data", "default"), names, SUFFIXES):
        for path in sorted((folder / inner).glob(f"{name}-*-of-*{ending}")):
            if part := PART.fullmatch(path.name):
                return path.with_name(f"{part[1]}-*-of-{part[2]}{part[3]}")
    return None


def _parts(path: Path, name: re.Match[str]) -> list[str]:
    """All parts of a table; raises `HeadscopeError` if one is missing."""
    parts = (path.with_name(f"{name[1]}-{number:05}-of-{name[2]}{name[3]}") for number in range(int(name[2])))
    return [existing(str(part), DEFAULTS)[0] for part in parts]


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each row, its sentences and label taken from `options.columns` or the columns that the header suggests.

    A file of another suffix is read as .tsv. Labels stay as written; a .parquet column of floats stays so.
    """
    cursor, chosen = options.cursor or Cursor(), None
    for row in _ROWS.get(suffix(source), tsv)(source, options, cursor):
        if isinstance(row, Bad | Skipped):
            yield row
            continue
        line, values = row
        cursor.known = cursor.known or tuple(values)
        chosen = chosen or columns.choose(cursor.known, options.columns, source, options.document)
        try:
            yield columns.example(Path(source).name, line, values, chosen)
        except Bad as bad:
            yield bad


def more_documents(sources: Sequence[str], options: Options, read: Collection[Example]) -> str:
    """A remedy that names the column of a table with most documents, if these are enough; else empty."""
    values: dict[str, set[str]] = {}
    n, ids = len(read), {example.id for example in read}
    for row in islice(_rows_of(sources, options, ids), n):
        for name, value in row.items():
            values.setdefault(name, set()).add(str(value))
    chosen = columns.choose(list(values), options.columns, options.document or "", options.document)
    others = [name for name in values if name not in (chosen.first, chosen.second, chosen.label, chosen.document)]
    counts = {name: len(values[name]) for name in others if LEAST_DOCUMENTS <= len(values[name]) < n}
    best = max(counts, key=lambda name: counts[name], default="")
    return f"--document {best} makes {counts[best]:,}" if best else ""


def _rows_of(sources: Sequence[str], options: Options, ids: Collection[str]) -> Iterator[Mapping[str, object]]:
    """The rows of the examples with these ids."""
    for source in sources:
        for row in _ROWS.get(suffix(source), tsv)(source, options, Cursor()):
            if isinstance(row, tuple) and f"{Path(source).name}:{row[0]}" in ids:
                yield row[1]


def tsv(source: str, options: Options = DEFAULTS, cursor: Cursor | None = None) -> Rows:
    """Each row of a .tsv with the number of its line, by the names in its header, or by numbers where it has none."""
    # quote marks are text in .tsv corpora, often unpaired: a quoting reader would silently merge rows
    cursor = cursor or Cursor()
    rows = ((number, line.split("\t") if line else []) for number, line in lines(source, cursor=cursor))
    return _with_header(rows, source, options.columns, cursor)


def _csv(source: str, options: Options, cursor: Cursor) -> Rows:
    return _with_header(_csv_fields(source, cursor), source, options.columns, cursor)


def _csv_fields(source: str, cursor: Cursor) -> Iterator[tuple[int, list[str]] | Bad]:
    line = begin = 0

    def fields() -> Iterator[str]:
        for _, text in lines(source, cursor=cursor, quoted=True):
            if cursor.offset - begin > LONGEST_LINE:
                size = f"more than {LONGEST_LINE >> 20} MiB in one row"
                raise HeadscopeError(f"corpus '{source}', line {line}: {size}; close the quote mark that it opens")
            yield f"{text}\n"

    reader = csv.reader(fields(), strict=True)
    while True:
        line, begin = cursor.line + 1, cursor.offset
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Bad(line, f"not CSV ({error})")


def _with_header(rows: Iterator[tuple[int, list[str]] | Bad], source: str, wanted: str | None, cursor: Cursor) -> Rows:
    headless = columns.numbered(wanted)
    for row in rows:
        if isinstance(row, Bad):
            yield row
        elif not any(row[1]):
            yield Skipped("empty")
        elif not cursor.known and not headless:
            cursor.known = tuple(row[1])
            columns.check_header(cursor.known, source)
        else:
            cursor.known = cursor.known or tuple(str(number) for number in range(1, len(row[1]) + 1))
            yield _row(row[0], cursor.known, row[1])


def _row(line: int, header: Sequence[str], fields: list[str]) -> Row | Bad:
    if len(fields) != len(header):
        return Bad(line, f"{len(fields)} columns, expected {len(header)} ({', '.join(header)})")
    return line, dict(zip(header, fields, strict=True))


def _jsonl(source: str, options: Options, cursor: Cursor) -> Rows:
    # a number is kept as written: 5 and 5.0 are labels, not measurements
    for record in records(source, as_written=True, cursor=cursor):
        yield (record.line, record.fields) if isinstance(record, Record) else record


def _parquet(source: str, options: Options, cursor: Cursor) -> Rows:
    import pyarrow

    def choose(header: list[str], flat: list[str]) -> list[str]:
        columns.check_header(header, source)
        chosen = columns.choose(flat, options.columns, source, options.document)
        named = (chosen.first, chosen.second, chosen.label, chosen.document)
        return list(filter(None, dict.fromkeys(named)))

    try:
        with opened(source) as file:
            yield from enumerate(parquet.rows(_unpacked(file) if source.endswith(".gz") else file, choose), 1)
    except (pyarrow.ArrowException, ArithmeticError, ValueError) as error:
        # ValueError: text that is not UTF-8, or a time that Python cannot hold
        reason = f"{error} ".splitlines()[0].strip()
        raise HeadscopeError(f"corpus '{source}' cannot be read as Parquet: {reason}; check the file") from error


def _unpacked(file: BinaryIO) -> BinaryIO:
    content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"more than {LARGEST_FILE >> 20} MiB once it is unpacked")
    return io.BytesIO(content)


_ROWS: dict[str, Callable[[str, Options, Cursor], Rows]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
