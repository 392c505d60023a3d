"""The variables of a result as tables of a page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd
import xarray as xr

from headscope.figures import with_interval
from headscope.figures.labels import label, significant, title
from headscope.figures.theme import named
from headscope.figures.tidy import HEADS, records
from headscope.report.wording import Cell, measured, n_examples, strongest

MOST_CELLS = 40_000
RANKS = 5
# The largest error rate, or one of many that are so, is not remarkable.
UNRANKED = ("rate", "1 if so")
Cells = list[Cell | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of values: its key in the result, its words, and on how many examples it rests."""

    key: str
    words: str
    examples: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A variable as a table: `keys` head the columns that say where a value lies, `columns` those of values.

    Each row is where it lies and its cells, (value, interval); None where there is no value.

    * `source`: of a variable; `dim`: its dimension that stands in the columns.
    * `headline`: whether the page shows it among the main findings.
    """

    name: str
    caption: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Sequence[tuple[tuple[Any, ...], Sequence[Cell | None]]]
    source: str = ""
    dim: str = ""
    headline: bool = False

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.rows) * len(self.columns)


def titled(name: str, caption: str, key: str, titles: Iterable[str], rows: Iterable[tuple[Any, Cells]]) -> Table:
    """A table whose columns are known by their titles; each row has one label."""
    columns = tuple(Column(title.lower(), title) for title in titles)
    return Table(name, caption, (key,), columns, [((label,), cells) for label, cells in rows])


def complete(result: xr.Dataset, name: str) -> Table:
    """All values of a variable, if not too many for a page; its last dimension stands in the columns.

    >>> scores = {"score": (("layer", "metric"), [[0.5, 0.25]]), "score_n_examples": ("metric", [3, 7])}
    >>> result = xr.Dataset(scores, {"layer": [1], "metric": ["accuracy", "f1"]})
    >>> [column.examples for column in complete(result, "score").columns]
    ['3', '7']
    """
    array = with_interval(result, name)
    dims = [str(dim) for dim in array.dims]
    across = dims[-1] if len(dims) > 1 and dims[-1] not in HEADS else ""
    keys = tuple(dim for dim in dims if dim != across)
    columns = _columns(array, across)
    caption = f"{named(array)} ({array.attrs.get('units', '')})"
    rows = _rows(array, keys, across, columns) if array.size <= MOST_CELLS else []
    return Table(name, caption, keys, columns, rows, str(array.attrs.get("source", "")), across)


def _columns(array: xr.DataArray, across: str) -> tuple[Column, ...]:
    if not across:
        return (Column("value", "Value", _examples(array)),)
    values = array[across].values.tolist()
    counts = array["n_examples"] if "n_examples" in array.coords else array
    parts = [counts.isel({across: index}) if across in counts.dims else counts for index in range(len(values))]
    return tuple(
        Column(str(value), label(across, value), _examples(part)) for value, part in zip(values, parts, strict=True)
    )


def _examples(array: xr.DataArray) -> str:
    if (counts := n_examples(array)) is None:
        return ""
    least, most = counts
    return f"{most}" if least == most else f"{least}–{most}"


def _rows(array: xr.DataArray, keys: tuple[str, ...], across: str, columns: tuple[Column, ...]) -> list:
    rows: dict[tuple[Any, ...], dict[str, tuple[str, str]]] = {}
    for record in records(array if array.ndim else array.expand_dims(value_of=[str(array.name)])):
        labels = tuple(significant(record[key]) if isinstance(record[key], float) else record[key] for key in keys)
        rows.setdefault(labels, {})[str(record[across]) if across else "value"] = _cell(record)
    return [(labels, [cells.get(column.key) for column in columns]) for labels, cells in rows.items()]


def _cell(record: dict) -> tuple[str, str]:
    if isinstance(record["value"], str):
        return record["value"], ""
    lower, upper = record.get("lower"), record.get("upper")
    bounds = ""
    if lower is not None and upper is not None and not pd.isna(lower):
        bounds = f"{significant(lower, 4)}, {significant(upper, 4)}"
    return significant(record["value"], 4), bounds


def top_heads(result: xr.Dataset, name: str) -> Table | None:
    """The five heads with the most remarkable values of a variable; None for one that is not of heads alone.

    These are the largest; where values lie on both sides of 0 the furthest from it, and of cosines the smallest.
    """
    array = measured(result, name)
    if array is None or not {"layer", "head"} <= set(array.dims) or array.ndim > 4 or "other_layer" in array.dims:
        return None
    if array.attrs.get("units") in UNRANKED:
        return None
    across = [str(dim) for dim in array.dims if dim not in ("layer", "head")]
    rows = []
    for labels in product(*(array[dim].values.tolist() for dim in across)):
        part = array.sel(dict(zip(across, labels, strict=True)))
        if part.notnull().any():
            words = tuple(label(dim, value) for dim, value in zip(across, labels, strict=True))
            rows.append((words or ("all",), _ranked(part)))
    columns = tuple(Column(str(rank), f"{rank}.") for rank in range(1, RANKS + 1))
    return Table(name, named(array), tuple(map(title, across)) or ("",), columns, rows)


def _ranked(array: xr.DataArray) -> Cells:
    ranked = strongest(array)
    if array.attrs.get("units") == "cosine":
        ranked = ranked[::-1]
    elif ranked[-1].value < 0:
        ranked = sorted(ranked, key=lambda reading: -abs(reading.value))
    cells = [(str(head), "") for head in ranked[:RANKS]]
    return [*cells, *[None] * (RANKS - len(cells))]
