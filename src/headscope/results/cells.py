"""Texts of results as cells of CSV and Markdown, where they are neither formulas nor marks."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

TAG = re.compile(r"<(?=[A-Za-z/!?])")
NUMERIC = re.compile(r"[-+\d.,%e \[\]]*")


def csv_cell(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe.

    >>> csv_cell("=1+A1"), csv_cell("-0.5 [-1, 0]"), csv_cell("-"), csv_cell(-0.5)
    ("'=1+A1", '-0.5 [-1, 0]', '-', -0.5)
    """
    formula = isinstance(cell, str) and len(cell) > 1 and cell[0] in "=+-@\t\r" and not NUMERIC.fullmatch(cell)
    return f"'{cell}" if formula else cell


def markdown_cell(text: str) -> str:
    """A text in a cell of Markdown: in one line, and without marks that would make a link, a column or HTML of it.

    >>> print(markdown_cell("[CLS] a|b [x](y) <b>"))
    [CLS] a\\|b [x]\\(y) &lt;b>
    """
    line = TAG.sub("&lt;", " ".join(text.split()))
    return line.replace("|", "\\|").replace("](", "]\\(").replace("`", "\\`")


def plain(value: object) -> str:
    """Text without line breaks and Markdown's marks."""
    return "".join(character for character in " ".join(str(value).split()) if character not in "`|<>[]")


def markdown_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown.

    >>> markdown_table(["layer", "heads"], [("1", "12")])
    ['| layer | heads |', '| --- | --- |', '| 1 | 12 |']
    """
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]
