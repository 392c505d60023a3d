"""The number of a head in words: its interval, its rank, the median head, and the number of cases."""

import pandas as pd

from headscope.report.cards.head_numbers import Row
from headscope.report.wording import Estimate, number


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
    return Estimate(row.value, row.lower, row.upper).text


def ranked(row: Row) -> str:
    """The rank among the heads, and the value of the median head."""
    return f"{ordinal(row.rank)} of {row.heads}, the median head has {number(row.median)}"


def cases(row: Row) -> str:
    """The number of cases."""
    return "" if pd.isna(row.n) else f"n = {int(row.n):,} {row.cases}"
