"""Pages of a Parquet file by their headers, which say how large a page is before it is unpacked.

A header is a struct in Thrift's compact protocol; see PageHeader in parquet.thrift of apache/parquet-format.
"""

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

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
