"""The tables of the docs' pages, read for pictures."""

import re
from collections.abc import Iterator
from itertools import takewhile

import altair as alt

INTERVAL = re.compile(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]")
NUMBER = re.compile(r"-?[\d.,]+")


def table(page: str, title: str) -> Iterator[list[str]]:
    """The rows of the table whose heading begins with a title, a pattern, without that heading."""
    _, _, *lines = table_lines(page, title)
    return map(cells, lines)


def table_lines(page: str, title: str) -> Iterator[str]:
    """The lines of a table, the first of which begins with a title."""
    start = re.search(rf"^\| {title} \|", page, re.MULTILINE).start()  # type: ignore[union-attr]
    return takewhile(lambda line: line.startswith("|"), page[start:].splitlines())


def cells(line: str) -> list[str]:
    """The cells of a line of a table, without their bold type."""
    return [cell.replace("**", "").strip() for cell in line.strip("|").split("|")]


def number(cell: str) -> float:
    """The first number of a cell."""
    return float(NUMBER.search(cell).group().replace(",", ""))  # type: ignore[union-attr]


def interval(cell: str) -> dict[str, float]:
    """The number of a cell, and the bounds of its interval."""
    return dict(zip(("value", "lower", "upper"), map(float, INTERVAL.match(cell).groups()), strict=True))  # type: ignore[union-attr]


def named_rows(names: list[str], name: str = "name") -> alt.Y:
    """Rows with names, in their order."""
    return alt.Y(f"{name}:N", sort=list(dict.fromkeys(names)), title=None, axis=alt.Axis(labelLimit=260))
