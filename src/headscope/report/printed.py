"""The tables that the terminal prints of a result; `export` writes them for a paper, a program or a page."""

import re
from collections.abc import Iterator
from itertools import product
from math import floor, log10
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from headscope import results
from headscope.errors import HeadscopeError, suggest
from headscope.figures.labels import significant
from headscope.report.published import NAME as PUBLISHED
from headscope.report.study_page import study_page
from headscope.report.tables import Cells, Column, Table
from headscope.report.wording import number
from headscope.results.tables import csv_text, markdown
from headscope.storage.files import write_atomically

Format = Literal["csv", "latex", "markdown"]
SUFFIXES = {"csv": "csv", "latex": "tex", "markdown": "md"}
BY_LAYER = "by_layer"
MOST_LABELS = 5
# A mean over heads of these says nothing.
TESTS = ("p_value", "q_value", "special", "cluster")
MOST_SCORES, MOST_COLUMNS = 64, 12


def printed(result: xr.Dataset) -> list[Table]:
    """The means of heads by layer, and the study's own table; without one, variables of few values that have no heads.

    >>> values = xr.DataArray([[0.5, 0.25]], {"layer": [1], "head": [1, 2]}, ("layer", "head"), "score")
    >>> (table,) = printed(values.to_dataset().assign_attrs(study="mine"))
    >>> table.rows
    [(('score',), [('0.38', '')])]
    """
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
    *dims, last = array.dims
    flat = array.stack(row=dims) if dims else array.expand_dims("row")
    rows = [
        ((" ".join(_label(values[dim].item()) for dim in dims),), _cells(values.values, "z.3f"))
        for values in flat.transpose("row", last)
    ]
    words, labels = str(array.name).replace("_", " "), [_label(label) for label in array[last].values.tolist()]
    return Table(str(array.name), words, (words,), tuple(Column(label, label) for label in labels), rows)


def in_digits(values: np.ndarray, spec: str) -> list[str]:
    """The numbers of a row; where `spec` leaves too few digits of the largest, each with two significant digits.

    >>> in_digits(np.array([0.25, 0.0004]), "z.2f"), in_digits(np.array([0.0025, 0.00004]), "z.2f")
    (['0.25', '0.00'], ['0.0025', '4e-05'])
    """
    largest = np.nanmax(np.abs(values), initial=0)
    signed = bool((values < 0).any())  # of a difference, one digit says enough
    few = 0 < largest < 10 ** (1 - signed - int(spec[-2]))
    return ["" if np.isnan(value) else number(value) if few else _number(value, spec) for value in values]


def export_printed(result: xr.Dataset, directory: str | Path, format: Format = "csv") -> list[Path]:
    """Write the tables that the terminal prints: `directory/NAME.csv`, or `.tex` (booktabs) or `.md`.

    Where a number has a 95% interval, it is rounded to what the interval carries; CSV has the bounds beside it.

    Returns: the paths of the tables; none where the terminal prints none.

    Raises `HeadscopeError` if the format is unknown, or the folder cannot be written to.
    """
    if format not in SUFFIXES:
        raise HeadscopeError(f"format '{format}' is unknown; {suggest(format, SUFFIXES)}")
    return [
        write_atomically(Path(directory) / f"{table.name}.{SUFFIXES[format]}", content(table, format))
        for table in printed(result)
    ]


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
        return f"% {' '.join(table.caption.split())}\n{frame.to_latex(index=False, escape=True, column_format=sides)}"
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
    numbers = [float(bound) for bound in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", interval.replace(",", " "))]
    number = re.fullmatch(r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)(%?)", text)
    if number is None or len(numbers) != 2 or numbers[0] == numbers[1]:
        return text
    half = abs(numbers[1] - numbers[0]) / 2
    first = floor(log10(half))
    digits = max(0, -first + (half < 2 * 10**first))
    return f"{float(number[1]):.{digits}f}{number[2]}"


def _cells(values: np.ndarray, spec: str) -> Cells:
    return [(text, "") if text else None for text in in_digits(values, spec)]


def _rows(array: xr.DataArray) -> Iterator[tuple[str, np.ndarray]]:
    name, others = str(array.name).replace("_", " "), [dim for dim in array.dims if dim != "layer"]
    for labels in product(*(array[dim].values for dim in others)):
        words = [str(label).replace("_", " ") for label in labels]
        yield ": ".join([name, *words]), array.sel(dict(zip(others, labels, strict=True))).values


def _number(value: float, spec: str) -> str:
    return f"{value:{spec}}" if abs(value) < 1000 else f"{value:,.0f}"


def _label(value: object) -> str:
    return significant(value) if isinstance(value, float) else str(value)
