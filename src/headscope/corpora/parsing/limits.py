"""Bounds of what is read; beyond them a file is damaged, or was made to stop the reader."""

from headscope.corpora.problems import Bad

# Bytes of a line, and of a whole XML or packed Parquet file once it is unpacked.
LONGEST_LINE = 1 << 24
LARGEST_FILE = 1 << 28
# Bytes of a page of a Parquet file, and of rows that share a page, once they are unpacked.
LARGEST_PAGE = 1 << 27
LARGEST_BATCH = 1 << 26
# Characters of a text, and of the lines of one sentence: a tokenizer takes some 250 bytes for each.
LONGEST_TEXT = 1_000_000
# Columns of a table, and fields of a JSON object.
MOST_COLUMNS = 10_000
# Elements and attributes of an XML file.
MOST_ELEMENTS = 500_000
# Levels of elements, phrases or braces.
DEEPEST = 200
MOST_DIGITS = 18
# Characters of a label, a relation or a name: a result stores these.
LONGEST_NAME = 1_000


def is_whole_number(text: str) -> bool:
    """True for a whole number of at most 18 digits, without a sign."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def refuse_long(text: str, line: int) -> None:
    """Raise `Bad` for a text that is longer than is read."""
    if len(text) > LONGEST_TEXT:
        raise Bad(line, long_text(text))


def long_text(text: str) -> str:
    """What is said of a text that is too long."""
    return (
        f"text '{text[:20]}...' has {len(text)} characters, at most {LONGEST_TEXT} are read; break it into paragraphs"
    )


def whole_number(text: str, line: int, name: str) -> int:
    """Parse a whole number; raise `Bad` for anything else.

    >>> whole_number("12", 1, "head")
    12
    """
    if not is_whole_number(text):
        raise Bad(line, f"{name} '{text[:40]}' is not a whole number")
    return int(text)
