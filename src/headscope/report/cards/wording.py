"""The number of a head among all heads: as a row with a bar, and in words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from headscope.report.cards.head_numbers import Row
from headscope.report.wording import Estimate, number

# A card has so many rows with bars, and heads of these ranks stand out.
MOST_ROWS, FIRST = 12, 3


@dataclass(frozen=True, slots=True)
class RankRow:
    """What a study asks, and the rank of a head in its answer, of many answers the one with its highest rank."""

    words: str
    value: str
    rank: int
    heads: int
    stands_out: bool

    @property
    def share(self) -> float:
        """The share of heads without a higher value: the length of the bar."""
        return (self.heads - self.rank + 1) / self.heads

    @property
    def rank_words(self) -> str:
        """The rank in words, such as "1st of 72"."""
        return f"{ordinal(self.rank)} of {self.heads}"


def rank_rows(rows: Iterable[Row], sources: Sequence[str]) -> list[RankRow]:
    """A row for each variable of each result, the highest rank first.

    * `rows`: the numbers of one head that have enough cases; one that the median head shares has no row.
    """
    best: dict[tuple[int, str], Row] = {}
    for row in sorted(rows, key=lambda row: row.rank):
        if row.value > row.median or row.rank > row.heads / 2:
            best.setdefault((row.source, row.variable), row)
    results = Counter(variable for _, variable in best)
    return [
        RankRow(
            f"{question(row)} ({sources[row.source]})" if results[row.variable] > 1 else question(row),
            value(row),
            row.rank,
            row.heads,
            stands_out(row),
        )
        for row in list(best.values())[:MOST_ROWS]
    ]


def stands_out(row: Row) -> bool:
    """Whether the head is among the first of a number, and above the median."""
    return bool(row.rank <= FIRST and row.value > row.median)


def question(row: Row) -> str:
    """What a number is of, with its labels."""
    return f"{row.long_name}: {row.words}" if row.words else str(row.long_name)


def ordinal(rank: int) -> str:
    """A rank as it is spoken.

    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12, 21, 72, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '21st', '72nd', '113th']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th") if rank % 100 not in (11, 12, 13) else "th"
    return f"{rank}{ending}"


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
