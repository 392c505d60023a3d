"""The number of a head in words: with interval, rank, what it is compared with, and how many cases."""

import pandas as pd

from headscope.report.cards.head_rows import Row, rows, where
from headscope.report.wording import number


def ordinal(place: int) -> str:
    """A place as it is spoken.

    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 12, 21, 72, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '72nd', '113th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th") if place % 100 not in (11, 12, 13) else "th"
    return f"{place}{ending}"


def value(row: Row) -> str:
    """A value with its interval.

    >>> value(pd.Series({"value": 0.5, "lower": 0.25, "upper": 0.75}))
    '0.50 [0.25, 0.75]'
    """
    return number(row.value) + ("" if pd.isna(row.lower) else f" [{number(row.lower)}, {number(row.upper)}]")


def ranked(row: Row) -> str:
    """The rank among the heads, and what the median head has."""
    return f"{ordinal(row.rank)} of {row.heads}, the median head has {number(row.median)}"


def cases(row: Row) -> str:
    """On how many cases a number rests."""
    return "" if pd.isna(row.n) else f"n = {int(row.n):,} {row.cases}"


def rate(q: float) -> str:
    """A false discovery rate.

    >>> rate(0.0321), rate(0.00002)
    ('0.032', '<0.0001')
    """
    return "<0.0001" if q < 1e-4 else f"{q:.2g}"


def of(numbers: pd.DataFrame, variable: str) -> list[Row]:
    """The rows of a variable, of one head."""
    return rows(where(numbers, numbers["variable"] == variable))


def one(numbers: pd.DataFrame, variable: str, *labels: str) -> Row | None:
    """The row of these labels; None where there is none."""
    found = [row for row in of(numbers, variable) if set(labels) <= set(row.labels)]
    return found[0] if found else None
