"""A reproduction as one offline page: the sections of a report, the paper's tables and figures in its order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from headscope import catalog, results
from headscope.figures.curve import curve
from headscope.papers.reproduced import Cell, ReproducedRow, rows
from headscope.papers.reproduction import Item, Reproduction, read_reproduction
from headscope.papers.reproduction_record import MadeRun, ReproductionRecord, read_record
from headscope.report.page import Page
from headscope.report.parts import Figure
from headscope.report.tables import Cells, Table, titled
from headscope.report.wording import LEVELS, several
from headscope.statistics.significance import LEAST_CASES
from headscope.storage.files import refuse_link_out

PAGE = "reproduction.html"


@dataclass(frozen=True)
class ReproducedItem:
    """An item with its rows, the result of its run, and deviations; `again`: the page lists all of these above."""

    item: Item
    rows: list[ReproducedRow]
    deviations: tuple[str, ...]
    lacks: str
    result: xr.Dataset | None = None
    again: bool = False

    @property
    def quantity(self) -> tuple[str, str]:
        """The name and the units of its numbers; of columns of several variables "value", without units."""
        names = {column.number.variable for column in self.item.columns if column.number}
        name = names.pop() if len(names) == 1 else ""
        if self.result is None or name not in self.result:
            return "value", ""
        return name, str(self.result[name].attrs.get("units", ""))


@dataclass(frozen=True)
class Reproduced:
    """A reproduction with its results, by run."""

    reproduction: Reproduction
    record: ReproductionRecord
    results: Mapping[str, xr.Dataset]

    @cached_property
    def items(self) -> list[ReproducedItem]:
        """The tables and figures in the paper's order."""
        return list(self._items())

    @property
    def cells(self) -> list[Cell]:
        """All numbers beside a figure of the paper."""
        return [cell for entry in self.items for row in entry.rows for cell in row.cells if cell.figure]

    def _items(self) -> Iterator[ReproducedItem]:
        by_name = {run.name: run for run in self.record.runs}
        runs, above = {run.name: run for run in self.reproduction.runs}, set[str]()
        for item in self.reproduction.items:
            run = by_name.get(item.run, MadeRun(item.run, lacks="not run"))
            deviations = (*run.deviations, *runs[item.run].deviations, *item.deviations)
            result = self.results.get(item.run)
            again = above.issuperset(deviations)
            above.update(deviations)
            yield ReproducedItem(item, rows(item, result, "not measured"), deviations, run.lacks, result, again)


def read_reproduced(directory: str | Path) -> Reproduced:
    """The record of a folder, and the results that are there. Raises `HeadscopeError` if one cannot be read."""
    record = read_record(Path(directory))
    reproduction = read_reproduction(record.paper)
    there = [run.name for run in record.runs if (Path(directory) / run.name / "result.nc").is_file() and not run.lacks]
    for name in there:
        refuse_link_out(Path(directory) / name, Path(directory))
    return Reproduced(reproduction, record, {name: results.read(Path(directory) / name) for name in there})


def write_reproduction(directory: str | Path) -> Path:
    """Write `directory/reproduction.html` from the results of the folder; return its path."""
    directory = Path(directory)
    done = read_reproduced(directory)
    page = Page(directory / PAGE, "reproduction.html", {"paper": done.reproduction, "record": done.record})
    items = [_item(entry, number, page) for number, entry in enumerate(done.items)]
    page.contents |= {"items": items, "summary": summary(done), "runs": list(_runs(done, directory))}
    page.contents |= {"hard": hard(done), "easy": done.reproduction.easy, "levels": LEVELS, "least": LEAST_CASES}
    return page.write()


def summary(done: Reproduced) -> str:
    """How many of the paper's figures have a number here, and in how many intervals the figure lies."""
    cells = done.cells
    measured = [cell for cell in cells if cell.estimate is not None]
    compared = [cell.within for cell in measured if cell.within is not None]
    text = f"Of {several(len(cells), 'figure')} of the paper {len(measured)} have a number here."
    if compared:
        text += f" {sum(compared)} of the {len(compared)} with an interval lie within it."
    return text


def hard(done: Reproduced) -> list[str]:
    """What was hard: as the entry says, and the runs that were not made."""
    return [*done.reproduction.hard, *(f"{run.name} was not run: {run.lacks}" for run in done.record.runs if run.lacks)]


def tables(done: Reproduced) -> list[Table]:
    """A table of each item that has a number, for the terminal."""
    return [_table(entry, f"item-{number}") for number, entry in enumerate(done.items) if _has_numbers(entry)]


def frame(done: Reproduced) -> pd.DataFrame:
    """All numbers as a table: place, row, column, the value with its interval, and the paper's figure."""
    return pd.DataFrame(
        [
            {
                "where": entry.item.where,
                "row": row.words,
                "column": column.words,
                "value": cell.estimate.value if cell.estimate else float("nan"),
                "lower": cell.estimate.lower if cell.estimate else float("nan"),
                "upper": cell.estimate.upper if cell.estimate else float("nan"),
                "of": cell.where,
                "lacks": cell.lacks,
                "paper": cell.figure,
                "run": entry.item.run,
            }
            for entry in done.items
            for row in entry.rows
            for column, cell in zip(entry.item.columns, row.cells, strict=True)
        ]
    )


def _has_numbers(entry: ReproducedItem) -> bool:
    return any(cell.estimate for row in entry.rows for cell in row.cells)


def _item(entry: ReproducedItem, number: int, page: Page) -> dict[str, Any]:
    figures = page.attempt(f"the chart of {entry.item.where}", _figures, entry, number) or []
    page.draw(figures)
    item = entry.item
    contents: dict[str, Any] = {"where": item.where, "title": item.title, "run": item.run, "lacks": entry.lacks}
    contents |= {"table": _table(entry, f"item-{number}"), "figures": figures, "deviations": entry.deviations}
    contents["again"] = entry.again
    contents |= {
        "source": item.source,
        "level": item.level,
        "percent": item.percent,
        "notes": [row for row in entry.rows if row.note],
    }
    return contents


def _table(entry: ReproducedItem, name: str) -> Table:
    """Rows with a column for each number here, and one for the paper's where it has any."""
    columns = entry.item.columns
    published = [any(row.cells[index].figure for row in entry.rows) for index in range(len(columns))]
    heads = [
        f"{column.words}, {which}" if len(columns) > 1 else which.capitalize()
        for column, both in zip(columns, published, strict=True)
        for which in (("here", "paper") if both else ("here",))
    ]
    lines: list[tuple[str, Cells]] = [
        (row.words, [text for cell, both in zip(row.cells, published, strict=True) for text in _texts(cell, both)])
        for row in entry.rows
    ]
    unit = " (per cent)" if entry.item.percent else ""
    return titled(name, f"{entry.item.where}: {entry.item.title}{unit}", "", heads, lines)


def _texts(cell: Cell, both: bool) -> Cells:
    """The number here, and the paper's."""
    return [(cell.text, ""), (cell.figure, "")] if both else [(cell.text, "")]


def _figures(entry: ReproducedItem, number: int) -> list[Figure]:
    """The numbers of each layer as lines, the paper's beside ours."""
    if entry.item.by != "layer" or not _has_numbers(entry):
        return []
    series: dict[str, dict[int, float]] = {}
    for row in entry.rows:
        assert row.layer is not None  # of an item by layer
        layer = row.layer
        for column, cell in zip(entry.item.columns, row.cells, strict=True):
            if cell.estimate:
                series.setdefault(f"{column.words}, here", {})[layer] = cell.estimate.value
            if cell.figure:
                series.setdefault(f"{column.words}, in the paper", {})[layer] = float(cell.figure)
    frame = pd.DataFrame(series).sort_index()
    array = xr.DataArray(
        frame.values, {"layer": frame.index.values, "series": list(frame.columns)}, ("layer", "series")
    )
    name, units = entry.quantity
    chart = curve(array.rename(name).assign_attrs(long_name=entry.item.title, units=units), "layer")
    beside = " and the paper's" if any(cell.figure for row in entry.rows for cell in row.cells) else ""
    return [Figure(f"item-{number}", "", chart, f"The numbers here{beside}, by layer.", "")]


def _runs(done: Reproduced, directory: Path) -> Iterator[dict[str, Any]]:
    by_name = {run.name: run for run in done.record.runs}
    for run in done.reproduction.runs:
        made_run = by_name.get(run.name, MadeRun(run.name, lacks="not run"))
        result = done.results.get(run.name)
        yield {
            "name": run.name,
            "study": catalog.command_name(run.study),
            "method": run.method,
            "command": made_run.command,
            "deviations": (*made_run.deviations, *run.deviations),
            "lacks": made_run.lacks,
            "read": _read(result) if result is not None else "",
            "page": f"{run.name}/report.html" if (directory / run.name / "report.html").is_file() else "",
        }


def _read(result: xr.Dataset) -> str:
    attrs = result.attrs
    return f"{attrs['corpus']}, {several(int(attrs['n_examples']), 'example')}"
