"""The tables that the terminal prints of a result; `export` writes them for a paper, a program or a page."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import floor, log10
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError, suggest
from headscope.figures.labels import label, name_in_words, special_tokens, title, with_labels
from headscope.report.published import NAME as PUBLISHED
from headscope.report.study_page import study_page
from headscope.report.tables import MOST_CELLS, Cells, Column, Table, complete
from headscope.report.wording import Cell, number, sentence_case
from headscope.results.tables import csv_text, markdown, refuse_unknown
from headscope.storage.files import write_atomically

Format = Literal["csv", "latex", "markdown"]
SUFFIXES = {"csv": "csv", "latex": "tex", "markdown": "md"}
BY_LAYER = "by_layer"
MOST_LABELS = 5
# A mean over heads of these says nothing.
TESTS = ("p_value", "q_value", "special", "cluster")
MOST_SCORES, MOST_COLUMNS = 64, 12
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# What LaTeX takes for a mark of its own.
LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"} | {"~": "\\~{}", "^": "\\^{}", "\\": "\\textbackslash{}"}
)


def printed(result: xr.Dataset) -> list[Table]:
    """The means of heads by layer, and the study's own table; without one, variables of few values that have no heads.

    >>> values = xr.DataArray([[0.5, 0.25]], {"layer": [1], "head": [1, 2]}, ("layer", "head"), "score")
    >>> (table,) = printed(values.to_dataset().assign_attrs(study="mine"))
    >>> table.rows
    [(('score',), [('0.38', '')])]
    """
    with special_tokens(result.attrs):
        tables = [table] if {"layer", "head"} <= set(result.dims) and (table := by_layer(result)).rows else []
        main = [table for table in study_page(result).tables() if table.name != PUBLISHED][:1]
        return tables + (main or [scores(result[name]) for name in results.means(result) if _is_small(result[name])])


def _is_small(array: xr.DataArray) -> bool:
    numbers = np.issubdtype(array.dtype, np.number) and array.notnull().any()
    dims = {"layer", "head"} & set(array.dims)
    few = array.size <= MOST_SCORES and array.ndim > 0 and array.shape[-1] <= MOST_COLUMNS
    return bool(numbers and few and not dims)


def by_layer(result: xr.Dataset) -> Table:
    """The mean over the heads of each layer, for variables of few labels that have values."""
    n_heads, rows = result["layer"].size * result["head"].size, list[tuple[tuple[str], Cells]]()
    for name in study_page(result).by_layer(results.means(result)):
        array = result[name]
        tested = str(name).endswith(TESTS)
        if {"layer", "head"} <= set(array.dims) and array.size <= MOST_LABELS * n_heads and not tested:
            cells = (((row,), _cells(values, "z.2f")) for row, values in _rows(array.mean("head")))
            rows += [row for row in cells if any(row[1])]
    columns = tuple(Column(str(layer), str(layer)) for layer in result["layer"].values)
    return Table(
        BY_LAYER, "Mean of heads, by layer", ("mean of heads, by layer",), columns, [row for row in rows if any(row[1])]
    )


def scores(array: xr.DataArray) -> Table:
    """The values of a variable that has no layers: a column for each label of its last dimension."""
    *dims, last = map(str, array.dims)
    flat = array.stack(row=dims) if dims else array.expand_dims("row")
    told_apart = [dim for dim in dims if array.sizes[dim] > 1]
    rows = [
        ((" ".join(_row_label(dim, values[dim].item()) for dim in told_apart),), _cells(values.values, "z.3f"))
        for values in flat.transpose("row", last)
    ]
    words, labels = name_in_words(str(array.name)), [label(last, value) for value in array[last].values.tolist()]
    return Table(str(array.name), words, (words,), tuple(Column(text, text) for text in labels), rows)


def _row_label(dim: str, value: object) -> str:
    return label(dim, value) if isinstance(value, str) else f"{value} {title(dim).lower()}"


def in_digits(values: np.ndarray, spec: str) -> list[str]:
    """The numbers of a row; where `spec` leaves too few digits of the largest, each with two significant digits.

    >>> in_digits(np.array([0.25, 0.0004]), "z.2f"), in_digits(np.array([0.0025, 0.00004]), "z.2f")
    (['0.25', '0.00'], ['0.0025', '4e-05'])
    """
    largest = np.nanmax(np.abs(values), initial=0)
    signed = bool((values < 0).any())  # of a difference, one digit says enough
    few = 0 < largest < 10 ** (1 - signed - int(spec[-2]))
    return ["" if np.isnan(value) else number(value) if few else _number(value, spec) for value in values]


def export_printed(
    result: xr.Dataset,
    directory: str | Path,
    format: Format = "csv",
    variables: Iterable[str] = (),
    top: int | None = None,
) -> list[Path]:
    """Write the tables that the terminal prints: `directory/NAME.csv`, or `.tex` (booktabs) or `.md`.

    Where a number has a 95% interval, it is rounded to what the interval carries; CSV has the bounds beside it.

    * `variables`: write all values of these in their place; `top`: of the rows of a table only those with the largest
      values.

    Returns: the paths of the tables; none where the terminal prints none.

    Raises `HeadscopeError` if the format or a variable is unknown, a variable has too many values for a table, or the
    folder cannot be written to.
    """
    if format not in SUFFIXES:
        raise HeadscopeError(f"format '{format}' is unknown; {suggest(format, SUFFIXES)}")
    tables = [_of_variable(result, name) for name in variables] or printed(result)
    return [
        write_atomically(Path(directory) / f"{table.name}.{SUFFIXES[format]}", content(largest(table, top), format))
        for table in tables
    ]


def _of_variable(result: xr.Dataset, name: str) -> Table:
    """All values of a variable, heads by their names."""
    refuse_unknown(result, name)
    if result[name].size > MOST_CELLS:
        raise HeadscopeError(f"variable '{name}' has {result[name].size:,} values, too many to print; use csv")
    with special_tokens(result.attrs):
        table = complete(result, name)
        if table.keys[:2] != ("layer", "head"):
            return replace(table, keys=tuple(map(title, table.keys)))
        rows = [((f"{layer}-{head}", *labels), cells) for (layer, head, *labels), cells in table.rows]
        return replace(table, keys=("Head", *map(title, table.keys[2:])), rows=rows)


def largest(table: Table, number: int | None) -> Table:
    """The rows of a table with the largest values, or with the furthest from 0 where values lie on both sides of it.

    >>> rows = [(("1-1",), [("2", "")]), (("1-2",), [("-3", "")])]
    >>> table = Table("x", "X", ("Head",), (Column("value", "Value"),), rows)
    >>> [labels for labels, _ in largest(table, 1).rows]
    [('1-2',)]
    """
    if number is None:
        return table

    def size(row: tuple[Any, Sequence[Cell | None]]) -> float:
        values = [cell[0].rstrip("%").replace(",", "") for cell in row[1] if cell]
        return max((abs(float(value)) for value in values if NUMBER.fullmatch(value)), default=0.0)

    return replace(table, rows=sorted(table.rows, key=size, reverse=True)[:number])


def content(table: Table, format: Format) -> str:
    """A table as text.

    >>> table = Table("score", "Score", ("layer",), (Column("value", "Value"),), [(("1",), [("0.5173", "0.42, 0.61")])])
    >>> print(content(table, "markdown"))
    | layer | Value |
    | --- | ---: |
    | 1 | 0.52 |
    <BLANKLINE>
    """
    frame = _frame(table, bounds=format == "csv")
    if format == "csv":
        return csv_text(frame)
    if format == "latex":
        sides = "l" * len(table.keys) + "r" * len(table.columns)
        rows = re.sub(r"(?<=& )-(?=\d)", "$-$", frame.to_latex(index=False, escape=True, column_format=sides))
        caption, label = sentence_case(" ".join(table.caption.translate(LATEX).split())), table.name.replace("_", "-")
        return f"\\begin{{table}}\n\\centering\n\\caption{{{caption}}}\n\\label{{tab:{label}}}\n{rows}\\end{{table}}\n"
    return markdown(frame, ["---"] * len(table.keys) + ["---:"] * len(table.columns))


def _frame(table: Table, *, bounds: bool) -> pd.DataFrame:
    """The rows of a table; with `bounds` a column of intervals beside each column that has any."""
    columns = {key: [labels[index] for labels, _ in table.rows] for index, key in enumerate(table.keys)}
    for index, column in enumerate(table.columns):
        cells = [cells[index] or ("", "") for _, cells in table.rows]
        words = column.words if column.words not in columns else column.key
        columns[words] = [text if bounds else rounded(text, interval) for text, interval in cells]
        if bounds and any(interval for _, interval in cells):
            columns[f"{words}: 95% interval"] = [interval for _, interval in cells]
    return pd.DataFrame(columns)


def rounded(text: str, interval: str) -> str:
    """A number to the digit in which its interval begins to vary; other text, or without an interval, as it is.

    >>> rounded("0.5173", "0.42, 0.61"), rounded("82.46%", "81.2%, 83.7%"), rounded("all", "")
    ('0.52', '82.5%', 'all')
    """
    numbers = [float(bound) for bound in NUMBER.findall(interval.replace(",", " "))]
    number = NUMBER.fullmatch(text.removesuffix("%"))
    if number is None or len(numbers) != 2 or numbers[0] == numbers[1]:
        return text
    half = abs(numbers[1] - numbers[0]) / 2
    first = floor(log10(half))
    digits = max(0, -first + (half < 2 * 10**first))
    return f"{float(number[0]):.{digits}f}{'%' if text.endswith('%') else ''}"


def _cells(values: np.ndarray, spec: str) -> Cells:
    return [(text, "") if text else None for text in in_digits(values, spec)]


def _rows(array: xr.DataArray) -> Iterator[tuple[str, np.ndarray]]:
    units = str(array.attrs.get("units", "1"))
    unit = f" ({units})" if units.isalpha() and units not in ("share", "score") else ""
    others = sorted((str(dim) for dim in array.dims if dim != "layer"), key=lambda dim: dim == "model")
    for labels in product(*(array[dim].values for dim in others)):
        at = dict(zip(others, labels, strict=True))
        words = [label(dim, value) for dim, value in at.items() if dim != "model" or array.sizes[dim] > 1]
        yield f"{with_labels(str(array.name), words)}{unit}", array.sel(at).values


def _number(value: float, spec: str) -> str:
    return f"{value:{spec}}" if abs(value) < 1000 else f"{value:,.0f}"
