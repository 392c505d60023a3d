"""Rows of a Parquet file, in batches that are known to be small before they are unpacked.

The footer of the file says where the pages of a column are, the header of a page how large it is: see FileMetaData and
PageHeader in parquet.thrift of apache/parquet-format. The footer is not asked of pyarrow, which ends the process at one
whose statistics do not fit the type of their column.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from headscope.storage.limits import LARGEST_BATCH, LARGEST_FOOTER, LARGEST_PAGE, LONGEST_NAME

ROWS = 1000
# A batch may have this many pages of this size as it has rows.
SMALL_PAGE = LARGEST_BATCH // ROWS
# Numbers of fields: of the footer, a group of rows, a column of it and what is known of that.
GROUPS, COLUMNS, COLUMN = 4, 1, 3
PACKED_IN_ALL, FIRST_DATA, FIRST_DICTIONARY = 7, 9, 11
FOOTER_END = 8  # its length in four bytes, and PAR1
# Numbers of fields: of a header, and of the structs within it.
UNPACKED, PACKED, DATA, DICTIONARY, DATA_V2 = 2, 3, 5, 7, 8
N_VALUES, ENCODING, ENCODING_V2 = 1, 2, 4
DELTA_BYTE_ARRAY = 7
MOST_FIELDS = 100
DOUBLE_BYTES = 8
LONG_LIST = 15


class ParquetPage(NamedTuple):
    """The bytes of a page once it is unpacked, and the number of its values.

    * `shared`: whether rows may have the same bytes: of a dictionary, or of texts that repeat the one before.
    """

    size: int
    values: int
    shared: bool


def rows(file: BinaryIO, choose: Callable[[list[str], list[str]], Sequence[str]]) -> Iterator[dict[str, Any]]:
    """The rows of the columns that are chosen.

    * `choose`: from the names of all columns, and from those that are neither lists nor structs, the ones to read.

    Raises `ValueError`, or an error of pyarrow, if the file is damaged or unpacks to too much at once.
    """
    import pyarrow.parquet

    table = pyarrow.parquet.ParquetFile(file, pre_buffer=False, buffer_size=SMALL_PAGE)
    flat = _flat(table)
    names = choose(table.schema_arrow.names, list(flat))
    stored = _columns(file)
    for group in range(table.num_row_groups):
        columns = [stored[group][flat[name]] for name in names]
        size = min((_rows(page) for column in columns for page in pages(file, *column)), default=ROWS)
        for batch in table.iter_batches(size, [group], columns=names, use_threads=False):
            yield from batch.to_pylist()


def _flat(table: Any) -> dict[str, int]:
    """Names of columns with one value a row, and their numbers among those that are stored."""
    from pyarrow.types import is_nested

    stored = [table.schema.column(number) for number in range(len(table.schema.names))]
    paths = Counter(column.path for column in stored)  # a name with a dot may also be the path of a part of a struct
    fields = {field.name for field in table.schema_arrow if not is_nested(field.type) and paths[field.name] == 1}
    return {
        column.path: number
        for number, column in enumerate(stored)
        if column.path in fields and column.length <= LONGEST_NAME
    }


def _columns(file: BinaryIO) -> list[list[tuple[int, int]]]:
    """The first byte and the number of bytes of each column of each group of rows."""
    end = file.seek(-FOOTER_END, os.SEEK_END)
    size = int.from_bytes(file.read(4), "little")
    if size > LARGEST_FOOTER:
        raise ValueError(f"a footer of {size} bytes, at most {LARGEST_FOOTER} are read; write fewer groups of rows")
    file.seek(end - size)
    footer = struct(BytesIO(file.read(size)))
    try:
        return [[_span(column[COLUMN]) for column in group[COLUMNS]] for group in footer[GROUPS]]
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise ValueError("the footer is damaged") from error


def _span(column: dict[int, Any]) -> tuple[int, int]:
    """The first byte of a column, at its dictionary if it has one, and the number of its bytes."""
    starts = [_size(column, field) for field in (FIRST_DATA, FIRST_DICTIONARY) if column.get(field)]
    return min(starts), _size(column, PACKED_IN_ALL)


def _size(fields: dict[int, Any], number: int) -> int:
    size = fields[number]
    if not isinstance(size, int) or size < 0:
        raise ValueError("a field that is no size")
    return size


def _rows(page: ParquetPage) -> int:
    """The number of rows that a batch may have on account of a page.

    >>> _rows(ParquetPage(10_000_000, 1, shared=True)), _rows(ParquetPage(1_000_000, 200, shared=False))
    (6, 200)
    """
    if page.size > LARGEST_PAGE:
        raise ValueError(f"a page of {page.size} bytes, at most {LARGEST_PAGE} are unpacked")
    if page.size <= SMALL_PAGE:
        return ROWS
    return max(1, min(ROWS, LARGEST_BATCH // page.size if page.shared else page.values))


def pages(file: BinaryIO, start: int, length: int) -> Iterator[ParquetPage]:
    """The pages of a column, which stand in these bytes of a file. Raises `ValueError` if a header is damaged."""
    at = start
    while at < start + length:
        file.seek(at)
        try:
            fields = struct(file)
            page, packed = _page(fields), _size(fields, PACKED)
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError("the header of a page is damaged") from error
        yield page
        at = file.tell() + packed


def _page(fields: dict[int, Any]) -> ParquetPage:
    size = _size(fields, UNPACKED)
    if DICTIONARY in fields:
        return ParquetPage(size, _size(fields[DICTIONARY], N_VALUES), True)
    data, encoding = (fields[DATA_V2], ENCODING_V2) if DATA_V2 in fields else (fields[DATA], ENCODING)
    return ParquetPage(size, _size(data, N_VALUES), data[encoding] == DELTA_BYTE_ARRAY)


def struct(file: BinaryIO) -> dict[int, Any]:
    """The fields of the struct that begins here, by their numbers (compact-protocol.md of apache/thrift)."""
    try:
        return _struct(file)
    except (LookupError, TypeError, AttributeError, OverflowError, OSError, RecursionError) as error:
        raise ValueError("a struct of Thrift is damaged") from error


def _struct(file: BinaryIO) -> dict[int, Any]:
    fields, number = dict[int, Any](), 0
    while head := file.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(file)
        if number > MOST_FIELDS:
            raise LookupError("more fields than a struct of Parquet has")
        fields[number] = _value(file, head & 15)
    return fields


def _value(file: BinaryIO, kind: int) -> Any:
    """A value of a kind; of texts and fractions, such as the minimum of a page, nothing is read."""
    if kind in (1, 2):
        return kind == 1
    if kind in (4, 5, 6):
        return _integer(file)
    if kind in (7, 8):
        return file.seek(DOUBLE_BYTES if kind == 7 else _natural(file), os.SEEK_CUR)
    if kind == 9:
        return _list(file)
    if kind == 12:
        return _struct(file)
    raise LookupError("a kind of value that Parquet does not use")


def _list(file: BinaryIO) -> list[Any]:
    head = file.read(1)[0]
    length = _natural(file) if head >> 4 == LONG_LIST else head >> 4
    kind = head & 15
    if kind in (1, 2):
        return [file.read(1)[0] == 1 for _ in range(length)]
    return [_value(file, kind) for _ in range(length)]


def _natural(file: BinaryIO) -> int:
    number = shift = 0
    while (byte := file.read(1)[0]) > 127 and shift < 64:
        number |= (byte & 127) << shift
        shift += 7
    return number | byte << shift


def _integer(file: BinaryIO) -> int:
    number = _natural(file)
    return number >> 1 ^ -(number & 1)
