"""Lines of a text file, plain or gzip, strictly UTF-8."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from headscope.errors import HeadscopeError


def binary(source: str) -> BinaryIO:
    """Open a file for reading; one that ends in `.gz` is unpacked."""
    return gzip.open(source) if source.endswith(".gz") else open(source, "rb")  # type: ignore[return-value]


def lines(source: str) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line, without its end; a byte order mark is left out.

    Raises `HeadscopeError` if the file cannot be read, or naming the line that is not UTF-8.
    """
    try:
        with binary(source) as file:
            for number, raw in enumerate(file, 1):
                yield number, _decoded(raw, source, number)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise HeadscopeError(f"corpus '{source}' cannot be read: {reason}; check the file") from error


def suffix(source: str) -> str:
    """The suffix that tells what is in a file, in lower case.

    >>> suffix("MRPC/Dev.TSV.gz")
    '.tsv'
    """
    return Path(source.removesuffix(".gz")).suffix.lower()


def _decoded(raw: bytes, source: str, number: int) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        wrong = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise HeadscopeError(f"corpus '{source}', line {number}: {wrong}; save the file as UTF-8") from error
