"""Results on stdout: tables and findings for people, JSON for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console
from rich.table import Table

from headscope import catalog
from headscope.figures.labels import special_tokens
from headscope.front.cli.printing import cell, escaped, printable, table_of
from headscope.report.facts import model_notes, read
from headscope.report.printed import BY_LAYER, printed
from headscope.report.study_page import study_page
from headscope.report.tables import Table as Own

WORDS = 32  # characters of the words of a row


def print_result(result: xr.Dataset) -> None:
    """The main table, and the inputs that were left out."""
    console, attrs = Console(), result.attrs
    _line(console, f"{catalog.command_name(attrs['study'])}: {read(result)}")
    for term, note in model_notes(attrs):
        _line(console, f"{term.lower()}: {note}")
    with special_tokens(attrs):
        for table in printed(result):
            console.print(laid_out(table, console.width))
    if skipped := json.loads(attrs.get("skipped", "{}")):
        counted = ", ".join(f"{count} {reason}" for reason, count in skipped.items())
        _line(console, f"left out, cut, renamed or unknown: {counted}")
    if "interrupted" in attrs:
        _line(console, f"interrupted {attrs['interrupted']}: these are the numbers of what was read")


def print_end(result: xr.Dataset, directory: Path, page: Path, duration: str) -> None:
    """The main findings, the saved models, the page, and the duration of the command."""
    console = Console()
    for finding in study_page(result).highlights():
        _line(console, f"{finding.topic}: {finding.text}")
    for folder in (directory / "model", *sorted((directory / "models").glob("*"))):
        if folder.is_dir():
            _line(console, f"model: {folder}")
    _line(console, f"report: {page}")
    _line(console, duration)


def print_forms(result: xr.Dataset) -> None:
    """The table of the saved forms of a smaller model: megabytes, milliseconds and scores."""
    console = Console()
    for table in study_page(result).tables():
        if table.headline:
            console.print(laid_out(table, console.width))


def _line(console: Console, text: str) -> None:
    console.print(printable(text), soft_wrap=True, highlight=False, markup=False)


def print_wrapped(tables: Iterable[Own]) -> None:
    """Tables of words under their captions, whose cells are broken into lines."""
    console = Console()
    for table in tables:
        console.print(printable(table.caption), markup=False, highlight=False)
        rows = ([*labels, *(value[0] if value else "" for value in cells)] for labels, cells in table.rows)
        console.print(table_of([*table.keys, *(column.words for column in table.columns)], rows))


def laid_out(content: Own, width: int) -> Table:
    """A table, values without their intervals: the columns that fit, layers spread over all; others are named."""
    keys, head = len(content.keys), [*content.keys, *(column.words for column in content.columns)]
    rows = [[*map(str, labels), *("" if cell is None else cell[0] for cell in cells)] for labels, cells in content.rows]
    widths = np.cumsum([max(map(len, column)) + 2 for column in zip(head, *rows, strict=True)])
    fitting = max(keys + 1, int((widths + 2 <= width).sum()))
    shown = _spread(rows, width) if content.name == BY_LAYER else [*range(min(fitting, len(head)))]
    table = table_of(
        (head[index] for index in shown), ([row[index] for index in shown] for row in rows), padding=(0, 1, 0, 0)
    )
    if hidden := [name for index, name in enumerate(head) if index not in shown]:
        what = "layers" if content.name == BY_LAYER else "columns"
        table.caption = cell(f"{what} for which the terminal has no room: {', '.join(hidden)}; the page has them")
        table.caption_justify = "left"
    return table


def _spread(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The first column, of words, and as many of the others as fit, spread over all of them."""
    others = len(rows[0]) - 1
    fitting = max(1, min(others, (width - WORDS) // max(6, 1 + max(len(text) for row in rows for text in row[1:]))))
    return [0, *np.unique(np.linspace(1, others, fitting).round().astype(int)).tolist()]


def as_json(result: xr.Dataset, page: Path) -> dict[str, Any]:
    """The whole result for programs: findings, attributes, coordinates, and variables without kept maps."""
    maps = [name for name, array in result.items() if "typical_input" in array.dims]
    plain = result.drop_vars(maps).to_dict(data="list")
    return {"report": str(page), "result": str(page.with_name("result.nc")), "findings": records(result), **plain}


def records(result: xr.Dataset) -> list[dict[str, Any]]:
    """The findings of a page in its order, those of the first screen first."""
    study = study_page(result)
    return [finding.record() for finding in (*study.highlights(), *study.findings())]


def _short(value: Any) -> str:
    """A value in a line; a number that is no integer with three decimals."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_short(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ("; " if value and isinstance(value[0], Mapping) else ", ").join(map(_short, value))
    return f"{value:.3f}" if isinstance(value, float) else escaped(value)


def in_lines(values: Mapping[str, Any], indent: str = "") -> str:
    """Names and values, one a line; nested mappings are indented.

    >>> print(in_lines({"right_maps": 2, "f1": {"block": [0.51239, 0.4]}}))
    right maps: 2
    f1:
      block: 0.512, 0.400
    """
    lines = []
    for name, value in values.items():
        words = f"{indent}{name.replace('_', ' ')}:"
        if isinstance(value, Mapping):
            lines += [words, in_lines(value, indent + "  ")] if value else [f"{words} none"]
        else:
            lines.append(f"{words} {_short(value)}")
    return "\n".join(lines)
