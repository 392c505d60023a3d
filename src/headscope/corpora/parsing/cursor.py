"""Where a reader is in its file, and places between two examples from which it can go on."""

from dataclasses import dataclass
from typing import BinaryIO

from headscope.corpora.parsing.limits import LONGEST_LINE


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A place between two lines of a file.

    * `offset`, `line`: the bytes, once they are unpacked, and the lines before it.
    * `known`: what the lines before it say of those behind it, such as the header of a table.
    """

    offset: int = 0
    line: int = 0
    known: tuple[str, ...] = ()


START = FilePosition()


class Cursor:
    """The place up to which a file is read; `move` lets the reader go on from another one.

    A reader that hands its cursor to `lines` keeps in `known` what it must know of earlier lines. When it yields an
    example, it has kept nothing else, and has read the last line of that example, but no further example.
    """

    def __init__(self, position: FilePosition = START):
        self.move(position)

    @property
    def position(self) -> FilePosition:
        """The position behind the last line that was read."""
        return FilePosition(self.offset, self.line, self.known)

    def move(self, position: FilePosition) -> None:
        """Go on from a position."""
        self.offset, self.line, self.known = position.offset, position.line, position.known
        self.moved = True

    def next_line(self, file: BinaryIO) -> bytes:
        """The next line of an open file, of one that is too long a byte more than is read; empty at the end of it."""
        if self.moved:
            self._seek(file)
        line = file.readline(LONGEST_LINE + 1)
        self.offset += len(line)
        self.line += 1
        return line

    def _seek(self, file: BinaryIO) -> None:
        file.seek(max(0, self.offset - 1))
        if self.offset and file.read(1) != b"\n":
            raise EOFError(f"no line begins at byte {self.offset}, as when it was checked")
        self.moved = False
