"""Cards and the index as tables."""

from collections.abc import Callable
from itertools import product

import pandas as pd
import xarray as xr

from headscope.figures.labels import head_name
from headscope.report.cards.head_numbers import Row, rows
from headscope.report.cards.main_numbers import addressed, column_name
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.kinds import head_kinds, words_of
from headscope.report.tables import Column, Table
from headscope.report.wording import Estimate, number, rate

Cell = tuple[str, str] | None
# The columns that every table of a card has.
ALWAYS = ("Value", "Rank", "Median head")


def of_card(lines: list[Row], name: str, caption: str) -> Table:
    """The numbers of one head: value, rank, what it is compared with, false discovery rate and cases."""
    writers = {
        "Value": lambda row: Estimate(row.value, row.lower, row.upper).cell(),
        "Rank": lambda row: (f"{row.rank} of {row.heads}", ""),
        "Median head": lambda row: (number(row.median), ""),
        "Baseline": lambda row: _unless_missing(row.baseline, number),
        "q": lambda row: _unless_missing(row.q, rate),
        "n": lambda row: _unless_missing(row.n, lambda n: f"{int(n):,} {row.cases}"),
    }
    cells = {words: [write(row) for row in lines] for words, write in writers.items()}
    kept = {words: cell_column for words, cell_column in cells.items() if words in ALWAYS or any(cell_column)}
    labels = [(row.long_name, row.words) for row in lines]
    columns = tuple(Column(words.lower(), words) for words in kept)
    rows = [(label, list(line)) for label, line in zip(labels, zip(*kept.values(), strict=True), strict=True)]
    return Table(name, caption, ("Number", "Of"), columns, rows)


def index(model: MeasuredModel, name: str = "heads") -> Table:
    """All heads with the main numbers of each result, and words where a study has any."""
    notes, values = _notes(model), model.main_numbers
    kinds = head_kinds(source.result for source in model.sources)
    columns = {"What it does": [_note(words_of(kinds.get(head, ()))) for head in model.heads]} if kinds else {}
    columns |= {title: _column(array, model, _note) for title, array in notes}
    columns |= {title: _column(array, model, _cell) for title, array in values}
    lines = [((head_name(*head),), [column[at] for column in columns.values()]) for at, head in enumerate(model.heads)]
    caption = f"All {len(model.heads)} heads of {model.name}"
    heads = tuple(Column(title, title) for title in columns)
    return Table(name, caption, ("Head",), heads, lines)


def ranking(model: MeasuredModel, address: str, *, ascending: bool = False, top: int | None = None) -> list[Table]:
    """The heads by one number, the largest value first; a table for each result that has it, one at least."""
    tables = []
    for index, group in addressed(model.numbers, address).groupby("source"):
        ordered = group.sort_values(by=["value", "layer", "head"], ascending=[ascending, True, True])
        ordered = ordered.head(top or len(ordered))
        table = of_card(rows(ordered), "ranking", "")
        open_ = len(set(group["words"])) > 1
        lines = [
            ((head_name(row.layer, row.head), *([row.words] if open_ else [])), cells)
            for row, (_, cells) in zip(rows(ordered), table.rows, strict=True)
        ]
        source, units = model.sources[int(str(index))], str(ordered["units"].iloc[0])
        caption = f"{column_name(group)}{f' ({units})' if units else ''}: {source.name}"
        keys = ("Head", "Of") if open_ else ("Head",)
        tables.append(Table("ranking", caption, keys, table.columns, lines))
    return tables


def _notes(model: MeasuredModel) -> list[tuple[str, xr.DataArray]]:
    notes = []
    for source in model.sources:
        for title, array in source.page.card().badges(source.result).items():
            again = title in [name for name, _ in notes]
            notes.append((f"{title} ({source.name})" if again else title, array))
    return notes


def _column(array: xr.DataArray, model: MeasuredModel, write: Callable[..., Cell]) -> list[Cell]:
    """The cell of each head; `write` makes it from the value and its bounds."""
    parts = [array, *(array[name] for name in ("lower", "upper") if name in array.coords)]
    flat = [part.transpose("layer", "head").values.ravel().tolist() for part in parts]  # [part, layer * head]
    heads = product(array["layer"].values.tolist(), array["head"].values.tolist())
    cells = {head: write(*values) for head, values in zip(heads, zip(*flat, strict=True), strict=True)}
    return [cells.get(head) for head in model.heads]


def _note(text: object) -> Cell:
    return (str(text), "") if str(text) else None


def _cell(value: float, lower: float, upper: float) -> Cell:
    return None if pd.isna(value) else Estimate(value, lower, upper).cell()


def _unless_missing(value: float, words: Callable[[float], str]) -> Cell:
    return None if pd.isna(value) else (words(value), "")
