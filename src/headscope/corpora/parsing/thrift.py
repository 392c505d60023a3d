"""Structs in Thrift's compact protocol, in which Parquet writes its headers and its footer.

See compact-protocol.md of apache/thrift. A struct is a dict of its fields by their numbers.
"""

import os
from typing import Any, BinaryIO

MOST_FIELDS = 100
DOUBLE_BYTES = 8
LONG_LIST = 15


def struct(file: BinaryIO) -> dict[int, Any]:
    """The fields of the struct that begins here, by their numbers.

    Raises `ValueError` if it is damaged.
    """
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
    """A value of a kind; of texts and fractions, such as the least of a page, nothing is read."""
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
