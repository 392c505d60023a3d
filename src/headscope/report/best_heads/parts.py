"""Findings, tables and figures of best heads that several studies share."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import xarray as xr

from headscope.report.best_heads.chosen import ChosenHead, by_gain
from headscope.report.parts import Finding
from headscope.report.tables import Column, Table
from headscope.report.wording import Cell, first_of
from headscope.results.tidy import same_bounds
from headscope.statistics.thresholds import LEAST_CASES

NAMED = 8
OF_THIS_HEAD = "Intervals are those of the head that this run chose; on other data another may be chosen."
Cells = list[Cell | None]


def beside_thresholds(
    heads: list[ChosenHead], sentence: Callable[[ChosenHead], str], gain: Callable[[ChosenHead], str], rule: str
) -> Iterator[Finding]:
    """The relations whose best head is special, in sentences; those where it is not, with their gains.

    * `rule`: why a head is not special, and the unit of gains.
    """
    ranked = by_gain(heads)
    if special := [sentence(head) for head in ranked if head.special]:
        yield Finding("Relations whose chosen head is special", f"{first_of(special, NAMED)}.")
    if others := [f"{head.name} ({gain(head)})" for head in ranked if not head.special]:
        yield Finding("Relations whose chosen head is not special", f"{rule}: {', '.join(others)}.")


def counted(n: int, cases: str) -> str:
    """What a count of special heads depends on, as a further sentence."""
    return f" Counts of heads grow with the data: here {n:,} {cases}."


def by_number_of_cases(
    name: str,
    caption: str,
    cases: str,
    columns: Iterable[str],
    heads: Iterable[ChosenHead],
    cells: Callable[[ChosenHead], Cells],
) -> list[Table]:
    """Tables of relations: those with enough cases, the largest gain first, and apart those with fewer."""
    ranked = sorted(heads, key=lambda head: (head.name != "all", -head.gain.value))
    few = f"Relations of fewer than {LEAST_CASES} {cases}: too few to call a head special."
    parts = [(caption, [head for head in ranked if head.enough]), (few, [head for head in ranked if not head.enough])]
    return [
        table(f"{name}-{number}", words, "Relation", columns, [(head.name, cells(head)) for head in rows])
        for number, (words, rows) in enumerate(parts)
        if rows
    ]


def table(name: str, caption: str, key: str, columns: Iterable[str], rows: Iterable[tuple[str, Cells]]) -> Table:
    """A table with words for rows and columns."""
    headers = tuple(Column(words.lower(), words) for words in columns)
    return Table(name, caption, "", "", (key,), headers, [((words,), cells) for words, cells in rows])


def frequent(result: xr.Dataset, count: str) -> xr.Dataset:
    """The relations with enough cases; all where there is none.

    * `count`: the variable with their numbers.
    """
    part = result.sel(relation=result[count] >= LEAST_CASES)
    return part if part.sizes["relation"] else result


def beside(result: xr.Dataset, parts: Mapping[str, xr.DataArray]) -> xr.DataArray:
    """Scores of best heads and of baselines as one array [relation, which]: "all", then the largest gains."""
    arrays = same_bounds([array.drop_vars("n_examples", errors="ignore") for array in parts.values()])
    joined = xr.concat(arrays, xr.Variable("which", list(parts))).transpose("relation", "which")
    rank = result["chosen_gain"].where(result["relation"] != "all", 2).fillna(-2)
    return joined.sel(relation=result["relation"].values[(-rank).argsort().values])
