"""Text from files and models as it is safe to print: no control character reaches the terminal."""

from rich.table import Column
from rich.text import Text


def printable(value: object) -> str:
    """Text on one line, with escapes in the place of control characters.

    >>> printable("a\\x1b[31mred\\n  b")
    'a\\\\x1b[31mred b'
    """
    return escaped(" ".join(str(value).split()))


def escaped(value: object) -> str:
    """Text with escapes in the place of control characters, such as a path; spaces stay as they are.

    >>> escaped("a  \\x1b[31mred")
    'a  \\\\x1b[31mred'
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in str(value))


def cell(value: object) -> Text:
    """A printable cell of a table, in which brackets are no markup."""
    return Text(printable(value))


def heading(value: object) -> Column:
    """A column of a table with a printable heading."""
    return Column(cell(value))
