"""Tables of sentences or sentence pairs (.tsv, .csv, .jsonl, .parquet), or a folder of them (table:FOLDER)."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from headscope.corpora import kinds
from headscope.corpora.options import Options
from headscope.corpora.parsing import columns
from headscope.corpora.parsing.cursor import Cursor
from headscope.corpora.parsing.json_lines import Record, records
from headscope.corpora.parsing.limits import LARGEST_FILE
from headscope.corpora.parsing.lines import lines, opened, suffix
from headscope.corpora.problems import Bad, Skipped
from headscope.errors import HeadscopeError
from headscope.types import Example

SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")

Row = tuple[int, Mapping[str, object]]
Rows = Iterator[Row | Bad | Skipped]


def locate(source: str, options: Options) -> list[str]:
    """The file, or the tables of a folder in the order of their names, which are read one after the other.

    Raises `HeadscopeError` if there is none.
    """
    if not Path(source).is_dir():
        return kinds.existing(source, options)
    tables = sorted(str(path) for path in Path(source).iterdir() if suffix(path.name) in SUFFIXES)
    if not tables:
        raise HeadscopeError(f"corpus '{source}': no table in this folder; name one with {', '.join(SUFFIXES)} files")
    return tables


def examples(source: str, options: Options) -> Iterator[Example | Bad | Skipped]:
    """Each row, its sentences and label taken from `options.columns` or the columns that the header suggests.

    A file of another suffix is read as .tsv. Labels stay as written; a .parquet column of floats stays so.
    """
    cursor, chosen = options.cursor or Cursor(), None
    for row in _ROWS.get(suffix(source), tsv)(source, columns.numbered(options.columns), cursor):
        if isinstance(row, Bad | Skipped):
            yield row
            continue
        line, values = row
        cursor.known = cursor.known or tuple(values)
        chosen = chosen or columns.choose(cursor.known, options.columns, source)
        try:
            yield columns.example(Path(source).name, line, values, chosen)
        except Bad as bad:
            yield bad


def tsv(source: str, headless: bool = False, cursor: Cursor | None = None) -> Rows:
    """Each row of a .tsv with the number of its line, by the names in its header, or by numbers where it has none."""
    # quote marks are text in .tsv corpora, often unpaired: a quoting reader would silently merge rows
    cursor = cursor or Cursor()
    rows = ((number, line.split("\t") if line else []) for number, line in lines(source, cursor=cursor))
    return _with_header(rows, source, headless, cursor)


def _csv(source: str, headless: bool, cursor: Cursor) -> Rows:
    return _with_header(_csv_fields(source, cursor), source, headless, cursor)


def _csv_fields(source: str, cursor: Cursor) -> Iterator[tuple[int, list[str]] | Bad]:
    reader = csv.reader((f"{line}\n" for _, line in lines(source, cursor=cursor, quoted=True)), strict=True)
    while True:
        line = cursor.line + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Bad(line, f"not CSV ({error})")


def _with_header(rows: Iterator[tuple[int, list[str]] | Bad], source: str, headless: bool, cursor: Cursor) -> Rows:
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


def _jsonl(source: str, headless: bool, cursor: Cursor) -> Rows:
    # a number is kept as written: 5 and 5.0 are labels, not measurements
    for record in records(source, as_written=True, cursor=cursor):
        yield (record.line, record.fields) if isinstance(record, Record) else record


def _parquet(source: str, headless: bool, cursor: Cursor) -> Rows:
    import pyarrow.parquet

    try:
        with opened(source) as file:
            content = io.BytesIO(file.read(LARGEST_FILE)) if source.endswith(".gz") else file
            table = pyarrow.parquet.ParquetFile(content)
            columns.check_header(table.schema_arrow.names, source)
            yield from enumerate((row for batch in table.iter_batches(1000) for row in batch.to_pylist()), 1)
    except (pyarrow.ArrowException, ArithmeticError, ValueError) as error:
        # ValueError: text that is not UTF-8, or a time that Python cannot hold
        reason = str(error).splitlines()[0]
        raise HeadscopeError(f"corpus '{source}' is not a Parquet file: {reason}; check the file") from error


_ROWS: dict[str, Callable[[str, bool, Cursor], Rows]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
