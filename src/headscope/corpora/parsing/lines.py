"""Input files: opened once they are known to be plain files, and read as lines of UTF-8, from any position on."""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from headscope.errors import HeadscopeError
from headscope.storage.limits import LONGEST_LINE, UNPACKED_LEAST, UNPACKED_TIMES

KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A place between two lines of a file.

    * `offset`, `line`: the bytes, once they are unpacked, and the lines before it.
    * `known`: what the lines before it say of those after it, such as the header of a table.
    """

    offset: int = 0
    line: int = 0
    known: tuple[str, ...] = ()


START = FilePosition()
BLOCK = 1 << 17


class Cursor:
    """The place up to which a file is read; `move` lets the reader go on from another one, unless the file has `ended`.

    A reader that hands its cursor to `lines` keeps in `known` what it must know of earlier lines. When it yields an
    example, it has kept nothing else, and has read the last line of that example, but no further example.
    """

    def __init__(self, position: FilePosition = START):
        self.move(position)

    @property
    def position(self) -> FilePosition:
        """The position after the last line that was read."""
        return FilePosition(self.offset, self.line, self.known)

    def move(self, position: FilePosition) -> None:
        """Go on from a position."""
        self.offset, self.line, self.known = position.offset, position.line, position.known
        self.moved, self.ended = True, False

    def next_line(self, file: BinaryIO) -> bytes:
        """The next line of an open file, of one that is too long a byte more than is read; empty at the end of it."""
        if self.moved:
            self._seek(file)
        line = file.readline(LONGEST_LINE + 1)
        self.offset += len(line)
        self.line += 1
        self.ended = not line
        return line

    def _seek(self, file: BinaryIO) -> None:
        file.seek(max(0, self.offset - 1))
        if self.offset and file.read(1) != b"\n":
            raise EOFError(f"no line begins at byte {self.offset}, where one began when the file was checked")
        self.moved = False


@contextmanager
def opened(source: str | Path, what: str = "corpus") -> Iterator[BinaryIO]:
    """Open a plain file for reading; one that ends in `.gz` is unpacked.

    * `what`: the file's role, the first word of an error.

    Raises `HeadscopeError` if it is no plain file, or cannot be opened, read or unpacked within this context.
    """
    if "\0" in str(source):
        raise HeadscopeError(f"{what} {str(source)!r} has a NUL character in its name; name a file")
    try:
        mode = os.stat(source).st_mode  # first: open() would wait for the other end of a named pipe
        for is_kind, name in KINDS.items():
            if is_kind(mode):
                raise HeadscopeError(f"{what} '{source}' is {name}; name a plain file")
        _refuse_without_size(source, what)
        with _unpacking(source, what) if str(source).endswith(".gz") else open(source, "rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or f"{error} ".splitlines()[0].strip()
        raise HeadscopeError(f"{what} '{source}' cannot be read: {reason}; check the file") from error


class _Unpacked(io.RawIOBase):
    """The bytes of a packed file, as long as they are not far more than the file has."""

    def __init__(self, file: gzip.GzipFile, most: int, refusal: str):
        self.file, self.most, self.refusal = file, most, refusal

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = self.file.readinto(buffer)
        if self.file.tell() > self.most:
            raise HeadscopeError(self.refusal)
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.file.seek(offset, whence)


@contextmanager
def _unpacking(source: str | Path, what: str) -> Iterator[BinaryIO]:
    refusal = f"{what} '{source}' unpacks to more than {UNPACKED_TIMES} times its size; unpack it first"
    most = max(UNPACKED_LEAST, UNPACKED_TIMES * os.stat(source).st_size)
    with gzip.open(source) as file, io.BufferedReader(_Unpacked(file, most, refusal), BLOCK) as unpacked:
        yield unpacked


def lines(
    source: str | Path, what: str = "corpus", cursor: Cursor | None = None, *, quoted: bool = False
) -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of each line, without its end; a byte order mark is left out.

    * `cursor`: from where to read; it goes along with the lines.
    * `quoted`: a carriage return within a line may be text, in quote marks; elsewhere it is refused.

    Raises `HeadscopeError` if the file cannot be read, or naming the line that is not UTF-8 text.
    """
    cursor = cursor or Cursor()
    with opened(source, what) as file:
        while raw := cursor.next_line(file):
            try:
                text = _text(raw, cursor.line == 1, quoted)
            except ValueError as error:
                raise HeadscopeError(f"{what} '{source}', line {cursor.line}: {error}") from error
            yield cursor.line, text


def _refuse_without_size(source: str | Path, what: str) -> None:
    """Raise `HeadscopeError` for a file of the system, as in /proc: it has no size, and reading it may never end."""
    if os.stat(source).st_size:
        return
    file = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        is_empty = not os.read(file, 1)
    except BlockingIOError:
        is_empty = False
    finally:
        os.close(file)
    if not is_empty:
        raise HeadscopeError(f"{what} '{source}' is a file of the system, without a size; name a copy of it")


def suffix(source: str) -> str:
    """The suffix that names the format of a file, in lower case.

    >>> suffix("MRPC/Dev.TSV.gz")
    '.tsv'
    """
    return Path(source.removesuffix(".gz")).suffix.lower()


def _text(raw: bytes, first: bool, quoted: bool) -> str:
    """The text of a line; raises `ValueError` for a line that is not text."""
    if len(raw) > LONGEST_LINE:
        raise ValueError(f"more than {LONGEST_LINE >> 20} MiB in one line; break the file into lines")
    if b"\0" in raw:
        raise ValueError("a NUL byte, as in UTF-16 or a binary file; save the file as UTF-8")
    try:
        text = raw.decode("utf-8-sig" if first else "utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8") from error
    if "\r" in text and (first or not quoted):
        raise ValueError("carriage returns are not line ends; save the file with LF or CRLF")
    return text
