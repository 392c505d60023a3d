"""Results on stdout: tables and findings for people, JSON for programs."""

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from headscope import catalog, results
from headscope.front.cli.printing import cell, escaped, heading, printable
from headscope.report.study_page import study_page
from headscope.report.tables import Table as Own
from headscope.report.wording import number, several

MOST_LABELS = 5
# A mean over heads of these says nothing.
TESTS = ("p_value", "q_value", "special", "cluster")
MOST_SCORES, MOST_COLUMNS = 64, 12
FOLDERS = {
    "studies": "Studies",
    "measures": "Measures",
    "measures/comparisons": "Comparisons of two models",
    "corpora/readers": "Kinds of corpora",
}


def print_catalog() -> None:
    """Print studies, measures and kinds of corpora with their one-line summaries."""
    console = Console()
    for folder, title in FOLDERS.items():
        table = Table(
            title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2)
        )
        for name in catalog.names(folder):
            shown = catalog.command_name(name) if folder == "studies" else name
            table.add_row(cell(shown), cell(catalog.summary(folder, name)))
        for entry in entry_points(group="headscope.measures") if folder == "measures" else ():
            table.add_row(cell(entry.name), cell(f"installed: {entry.value}"))
        console.print(table)
        console.print()


def print_result(result: xr.Dataset) -> None:
    """The main table, and the inputs that were left out."""
    console, attrs = Console(), result.attrs
    read = f"{several(attrs['n_examples'], 'example')}, {several(attrs['n_tokens'], 'token')}"
    study = catalog.command_name(attrs["study"])
    _line(console, f"{study}: {attrs['model']} on {attrs['corpus']}, {read}")
    if adapted := attrs.get("adapted_head"):
        _line(console, f"masked-language head: {adapted}")
    if {"layer", "head"} <= set(result.dims) and (table := by_layer(result, console.width)).row_count:
        console.print(table)
    own = study_page(result).tables()
    for own_table in own[:1]:
        console.print(laid_out(own_table, console.width))
    for name in () if own else results.means(result):
        array = result[name]
        numbers = np.issubdtype(array.dtype, np.number) and array.notnull().any()
        of_heads = {"layer", "head"} & set(array.dims)
        if array.dims and numbers and not of_heads and array.size <= MOST_SCORES and array.shape[-1] <= MOST_COLUMNS:
            console.print(scores(array))
    if skipped := json.loads(attrs.get("skipped", "{}")):
        _line(
            console, "left out, cut or unknown: " + ", ".join(f"{count} {reason}" for reason, count in skipped.items())
        )
    if "interrupted" in attrs:
        _line(console, f"interrupted {attrs['interrupted']}; what was done is kept")


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


def _line(console: Console, text: str) -> None:
    console.print(printable(text), soft_wrap=True, highlight=False, markup=False)


def by_layer(result: xr.Dataset, width: int) -> Table:
    """The mean over the heads of each layer, for variables of few labels that have values; as many layers as fit."""
    layers, n_heads = result["layer"].values, result["layer"].size * result["head"].size
    rows: dict[str, list[str]] = {}
    for name in study_page(result).by_layer(results.means(result)):
        array = result[name]
        tested = str(name).endswith(TESTS)
        if {"layer", "head"} <= set(array.dims) and array.size <= MOST_LABELS * n_heads and not tested:
            rows |= {row: in_digits(values, "z.2f") for row, values in _rows(array.mean("head"))}
    widest = max((len(text) for texts in rows.values() for text in texts), default=0)
    fitting = min(len(layers), (width - 32) // max(6, widest + 1))
    picked = np.unique(np.linspace(0, len(layers) - 1, fitting).round().astype(int))
    table = Table("mean of heads, by layer", *map(str, layers[picked]), box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for row, texts in rows.items():
        if any(texts):
            table.add_row(cell(row), *(texts[layer] for layer in picked))
    return table


def scores(array: xr.DataArray) -> Table:
    """The values of a variable that has no layers: a column for each label of its last dimension."""
    *rows, last = array.dims
    table = Table(
        str(array.name).replace("_", " "),
        *map(heading, map(_label, array[last].values.tolist())),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    flat = array.stack(row=rows) if rows else array.expand_dims("row")
    for values in flat.transpose("row", last):
        name = " ".join(_label(values[row].item()) for row in rows)
        table.add_row(cell(name), *in_digits(values.values, "z.3f"))
    return table


def in_digits(values: np.ndarray, spec: str) -> list[str]:
    """The numbers of a row; where `spec` leaves too few digits of the largest, each with two significant digits.

    >>> in_digits(np.array([0.25, 0.0004]), "z.2f"), in_digits(np.array([0.0025, 0.00004]), "z.2f")
    (['0.25', '0.00'], ['0.0025', '4e-05'])
    """
    largest = np.nanmax(np.abs(values), initial=0)
    signed = bool((values < 0).any())  # of a difference, one digit says enough
    few = 0 < largest < 10 ** (1 - signed - int(spec[-2]))
    return ["" if np.isnan(value) else number(value) if few else _number(value, spec) for value in values]


def laid_out(own: Own, width: int) -> Table:
    """A table that a study lays out itself, values without their intervals; as many of its columns as fit."""
    head = [*own.keys, *(column.words for column in own.columns)]
    rows = [[*map(str, labels), *("" if cell is None else cell[0] for cell in cells)] for labels, cells in own.rows]
    widths = np.cumsum([max(map(len, column)) + 2 for column in zip(head, *rows, strict=True)])
    fitting = max(len(own.keys) + 1, int((widths + 2 <= width).sum()))
    table = Table(*map(heading, head[:fitting]), box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for row in rows:
        table.add_row(*map(cell, row[:fitting]))
    return table


def _number(value: float, spec: str) -> str:
    return f"{value:{spec}}" if abs(value) < 1000 else f"{value:,.0f}"


def _label(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _rows(array: xr.DataArray) -> Iterator[tuple[str, np.ndarray]]:
    name = str(array.name).replace("_", " ")
    others = [dim for dim in array.dims if dim != "layer"]
    for labels in product(*(array[dim].values for dim in others)):
        words = [str(label).replace("_", " ") for label in labels]
        yield ": ".join([name, *words]), array.sel(dict(zip(others, labels, strict=True))).values


def as_json(result: xr.Dataset, page: Path) -> dict[str, Any]:
    """The whole result for programs: findings, attributes, coordinates, and variables without kept maps."""
    maps = [name for name, array in result.items() if "typical_input" in array.dims]
    plain = result.drop_vars(maps).to_dict(data="list")
    return {"report": str(page), "result": str(page.with_name("result.nc")), "findings": records(result), **plain}


def records(result: xr.Dataset) -> list[dict[str, Any]]:
    """The findings of a page in its order, those of the first screen first."""
    study = study_page(result)
    return [finding.record() for finding in (*study.highlights(), *study.findings())]


def in_lines(values: Mapping[str, Any], indent: str = "") -> str:
    """Names and values, one a line; nested mappings are indented.

    >>> print(in_lines({"n_maps": 2, "f1": {"block": 0.51239}}))
    n_maps: 2
    f1:
      block: 0.512
    """
    lines = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:", in_lines(value, indent + "  ")] if value else [f"{indent}{name}: none"]
        else:
            lines.append(f"{indent}{name}: {f'{value:.3f}' if isinstance(value, float) else escaped(value)}")
    return "\n".join(lines)
