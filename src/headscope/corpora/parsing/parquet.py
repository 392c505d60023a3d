"""Rows of a Parquet file, in batches that are known to be small before they are unpacked.

The header of a page says how large it is: a struct in Thrift's compact protocol; see PageHeader in parquet.thrift of
apache/parquet-format.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from headscope.corpora.parsing.limits import LARGEST_BATCH, LARGEST_PAGE, LONGEST_NAME

ROWS = 1000
# A batch may have so many pages of this size as it has rows.
SMALL_PAGE = LARGEST_BATCH // ROWS
# Numbers of fields: of a header, and of the structs within it.
UNPACKED, PACKED, DATA, DICTIONARY, DATA_V2 = 2, 3, 5, 7, 8
N_VALUES, ENCODING, ENCODING_V2 = 1, 2, 4
MOST_FIELDS = 100
DELTA_BYTE_ARRAY = 7


class ParquetPage(NamedTuple):
    """The bytes of a page once it is unpacked, and the number of its values.

    * `shared`: whether several rows may have the same bytes of it: it is a dictionary, or each of its texts repeats the
      beginning of the one before.
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
    for group in range(table.num_row_groups):
        columns = [table.metadata.row_group(group).column(flat[name]) for name in names]
        size = min((_rows(page) for column in columns for page in _pages(column, file)), default=ROWS)
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


def _pages(column: Any, file: BinaryIO) -> Iterator[ParquetPage]:
    start, dictionary = column.data_page_offset, column.dictionary_page_offset
    return pages(file, min(start, dictionary) if dictionary else start, column.total_compressed_size)


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
    """The pages of a column, which stand in these bytes of a file.

    Raises `ValueError` if a header is damaged.
    """
    at = start
    while at < start + length:
        file.seek(at)
        try:
            fields = _struct(file)
            page, packed = _page(fields), fields[PACKED]
        except (LookupError, TypeError, AttributeError, OverflowError, OSError, RecursionError) as error:
            raise ValueError("the header of a page is damaged") from error
        if min(page.size, page.values, packed) < 0:
            raise ValueError("a page has a negative size")
        yield page
        at = file.tell() + packed


def _page(fields: dict[int, Any]) -> ParquetPage:
    if DICTIONARY in fields:
        return ParquetPage(fields[UNPACKED], fields[DICTIONARY][N_VALUES], True)
    data, encoding = (fields[DATA_V2], ENCODING_V2) if DATA_V2 in fields else (fields[DATA], ENCODING)
    return ParquetPage(fields[UNPACKED], data[N_VALUES], data[encoding] == DELTA_BYTE_ARRAY)


def _struct(file: BinaryIO) -> dict[int, Any]:
    """The fields of a struct by their numbers."""
    fields, number = dict[int, Any](), 0
    while head := file.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else _integer(file)
        if number > MOST_FIELDS:
            raise LookupError("more fields than a header has")
        fields[number] = _value(file, head & 15)
    return fields


def _value(file: BinaryIO, kind: int) -> Any:
    """A value of a kind; of texts, such as the least of a page, nothing is read."""
    if kind in (1, 2):
        return kind == 1
    if kind in (4, 5, 6):
        return _integer(file)
    if kind == 8:
        return file.seek(_natural(file), os.SEEK_CUR)
    if kind == 12:
        return _struct(file)
    raise LookupError("a kind of value that no header has")


def _natural(file: BinaryIO) -> int:
    number = shift = 0
    while (byte := file.read(1)[0]) > 127 and shift < 64:
        number |= (byte & 127) << shift
        shift += 7
    return number | byte << shift


def _integer(file: BinaryIO) -> int:
    number = _natural(file)
    return number >> 1 ^ -(number & 1)
