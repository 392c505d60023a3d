"""Bounds of what is read; beyond them a file is damaged, or was made to stop the reader."""

from headscope.corpora.problems import Bad

# Bytes of a line, and of a whole XML or packed Parquet file once it is unpacked.
LONGEST_LINE = 1 << 24
LARGEST_FILE = 1 << 28
# Levels of elements, phrases or braces.
DEEPEST = 200
MOST_DIGITS = 18
# Characters of a label, a relation or a name: a result stores these.
LONGEST_NAME = 1_000


def is_whole_number(text: str) -> bool:
    """True for a whole number of at most 18 digits, without a sign."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def whole_number(text: str, line: int, name: str) -> int:
    """Parse a whole number; raise `Bad` for anything else.

    >>> whole_number("12", 1, "head")
    12
    """
    if not is_whole_number(text):
        raise Bad(line, f"{name} '{text[:40]}' is not a whole number")
    return int(text)
