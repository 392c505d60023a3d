"""Files of records: each is a line of a checksum and JSON. A torn or damaged line counts as not written."""

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from headscope.storage.files import replacing, writing

Record = dict[str, Any]


def line_of(record: Record) -> bytes:
    """A record as a line; bytes are written in base 64."""
    values, mark = list[bytes](), uuid4().hex

    def marked(value: Any) -> str:
        if not isinstance(value, bytes):
            raise TypeError(f"a {type(value).__name__} cannot be kept in a journal")
        values.append(b64encode(value))
        return mark

    # json would look through each of millions of characters for one to escape
    first, *parts = json.dumps(record, default=marked).encode().split(mark.encode())
    text = b"".join([first, *chain.from_iterable(zip(values, parts, strict=True))])
    return sha256(text).hexdigest().encode() + b" " + text + b"\n"


def record_of(line: bytes) -> Record | None:
    """The record of a line; None for a damaged line."""
    digest, _, text = line.rstrip(b"\n").partition(b" ")
    if digest != sha256(text).hexdigest().encode():
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def read_lines(path: Path) -> Iterator[Record | None]:
    """The record of each line; None for a damaged line.

    A torn line at the end is removed from the file. Raises `HeadscopeError` if the file cannot be read.
    """
    start = 0
    with writing(path, resumable=True), path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                if start:
                    os.truncate(path, start)
                return
            yield record_of(line)
            start += len(line)


def replace_lines(path: Path, lines: Iterator[bytes] | list[bytes]) -> None:
    """Replace the lines of a file, all or none.

    Raises `HeadscopeError` if they cannot be written; the file is then as it was.
    """
    file: Any
    with replacing(path, resumable=True) as scratch, scratch.open("wb", buffering=0) as file:
        for line in lines:
            write(file, line)


def append_line(path: Path, file: BinaryIO, line: bytes) -> None:
    """Write a line at the end of an open, unbuffered file, or leave the file as it was.

    Raises `HeadscopeError` if it cannot be written.
    """
    before = file.tell()
    try:
        with writing(path, resumable=True):
            write(file, line)
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):  # else `read_lines` does it
            file.truncate(before)
        raise


def write(file: BinaryIO, data: bytes) -> None:
    """Write all bytes, for which one call may not do."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
