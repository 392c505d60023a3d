"""Rows of a Parquet file, in batches that are known to be small before they are unpacked."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from headscope.corpora.parsing.limits import LARGEST_BATCH, LARGEST_PAGE, LONGEST_NAME
from headscope.corpora.parsing.parquet_pages import ParquetPage, pages

ROWS = 1000
# A batch may have so many pages of this size as it has rows.
SMALL_PAGE = LARGEST_BATCH // ROWS


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
