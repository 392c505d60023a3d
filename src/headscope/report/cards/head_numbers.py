"""All numbers of the heads of a result, one a row, each with its rank among the heads: as a bar, and in words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from headscope import results
from headscope.figures import with_interval
from headscope.figures.labels import label, of_model, special_tokens
from headscope.report.declared import TESTS
from headscope.report.study_page import study_page
from headscope.report.wording import Estimate, number

Row = Any  # a named tuple with the columns of `numbers`
HEAD = ("layer", "head")
# What is of single examples, of pairs of heads, of places in a plane, or of a test: not the number of a head.
UNSUITED = {"example", "other_layer", "other_head", "axis"}
ESTIMATES = ("value", "lower", "upper", "n", "baseline", "q")
WORDS = ("variable", "long_name", "labels", "words", "units", "cases")
COLUMNS = [*HEAD, *WORDS, *ESTIMATES, "rank", "heads", "median"]


def numbers(result: xr.Dataset) -> pd.DataFrame:
    """A row for each number of each head, from any variable that has layers and heads.

    Columns: `layer`, `head`, `variable`, `long_name`, `labels` (where in the variable, a tuple), `words` (the same),
    `value`, its interval `lower` and `upper`, `n` (the number of cases), `units` and `cases` (their unit),
    `rank` (1 for the highest value; equal values have the same) among `heads` heads, `median` (that of the heads),
    `baseline` and `q` (a false discovery rate) where the study has them. NaN where there is none.
    """
    card: Any = study_page(result).card()  # whatever is declared, its hooks can be called
    baselines, rates = card.baselines(result), card.rates(result)
    with special_tokens(result.attrs):
        frames = [_of(result, name, baselines.get(name), rates.get(name)) for name in number_names(result)]
    return pd.concat([frame for frame in frames if len(frame)] or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)


def number_names(result: xr.Dataset) -> list[str]:
    """The variables that are numbers of single heads: no tests, no coordinates, none that only repeat others."""
    hidden = study_page(result).card().hidden
    names = [name for name in results.means(result) if not name.endswith(TESTS) and name not in hidden]
    return [name for name in names if _is_number(result.variables[name])]


def _is_number(variable: xr.Variable) -> bool:
    dims = set(map(str, variable.dims))
    return set(HEAD) <= dims and not dims & UNSUITED and variable.dtype.kind in "fiu"


def _of(result: xr.Dataset, name: str, baseline: xr.DataArray | None, rate: xr.DataArray | None) -> pd.DataFrame:
    array = with_interval(result, name)
    parts = _parts(array, baseline, rate)
    rest = [str(dim) for dim in array.dims if dim not in HEAD]
    sizes = {dim: array.sizes[dim] for dim in (*rest, *HEAD)}
    n_heads = sizes["layer"] * sizes["head"]
    # a row for each combination of labels, a column for each head
    grids = {key: part.variable.set_dims(sizes).values.reshape(-1, n_heads) for key, part in parts.items()}
    values = pd.DataFrame(grids["value"])
    filled = values.notna().to_numpy()
    row, column = np.nonzero(filled)
    keys = list(product(*(array[dim].values.tolist() for dim in rest)))
    spelt = [dim for dim in rest if array.sizes[dim] > 1 or dim != "model"]  # of one model, it is clear which
    words = [", ".join(label(dim, name) for dim, name in zip(rest, at, strict=True) if dim in spelt) for at in keys]
    count = f"{name}_n_examples"
    columns = {
        "layer": array["layer"].values[column // sizes["head"]],
        "head": array["head"].values[column % sizes["head"]],
        "variable": name,
        "long_name": of_model(str(array.attrs.get("long_name", name))),
        "labels": [tuple(map(str, keys[index])) for index in row],
        "words": [words[index] for index in row],
        "units": str(array.attrs.get("units", "")),
        "cases": result[count].attrs.get("units", "examples") if count in result else "",
        "rank": values.rank(axis=1, ascending=False, method="min").to_numpy()[filled].astype(int),
        "heads": filled.sum(axis=1)[row],
        "median": values.median(axis=1).to_numpy()[row],
    }
    numbers = {key: grids[key][filled] if key in grids else np.full(len(row), np.nan) for key in ESTIMATES}
    return pd.DataFrame(columns | numbers, columns=COLUMNS)


def _parts(array: xr.DataArray, baseline: xr.DataArray | None, rate: xr.DataArray | None) -> dict[str, xr.DataArray]:
    """The values of an array and what stands beside each, by the name of its column."""
    beside = {"lower": "lower", "upper": "upper", "n": "n_examples"}
    others = {key: part for key, part in (("baseline", baseline), ("q", rate)) if part is not None}
    return (
        {"value": array}
        | {key: array[coord] for key, coord in beside.items() if coord in array.coords}
        | {key: part.reindex({dim: array[dim] for dim in part.dims}) for key, part in others.items()}
    )


def rows(numbers: pd.DataFrame) -> list[Row]:
    """The rows, one by one."""
    return list(numbers.itertuples(index=False))


def where(numbers: pd.DataFrame, condition: Any) -> pd.DataFrame:
    """The rows that satisfy a condition."""
    return pd.DataFrame(numbers[condition])


def of_variable(numbers: list[Row], variable: str) -> list[Row]:
    """The rows of a variable, of one head."""
    return [row for row in numbers if row.variable == variable]


def of_labels(numbers: list[Row], variable: str, *labels: str) -> Row | None:
    """The row of these labels; None where there is none."""
    matching = [row for row in of_variable(numbers, variable) if set(labels) <= set(row.labels)]
    return matching[0] if matching else None


# A card has this many rows with bars, and heads of these ranks stand out.
MOST_ROWS, FIRST = 12, 3


@dataclass(frozen=True, slots=True)
class RankRow:
    """A study's question and the rank of a head in its answer; of several answers, its highest rank."""

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
