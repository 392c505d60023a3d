"""Numbers of results beside those of a paper: the rows of its tables and figures."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
import xarray as xr

from headscope.figures.labels import head_name
from headscope.papers.numbers import LackingError, place_of, take
from headscope.papers.reproduction import Item, Row, ShownNumber
from headscope.report.wording import Estimate, layers_named, of_array
from headscope.statistics.significance import LEAST_CASES

NUMBER = re.compile(r"-?\d*\.?\d+")


@dataclass(frozen=True)
class Cell:
    """A number here, and the paper's figure.

    * `estimate`: None if it was not measured, `lacks` says why; `where`: the head or the layer that it is of.
    * `n`: the cases that it rests on, NaN where they are not known; fewer than `LEAST_CASES` are named.
    """

    figure: str
    estimate: Estimate | None = None
    where: str = ""
    lacks: str = ""
    percent: bool = False
    is_count: bool = False
    n: float = nan

    @property
    def text(self) -> str:
        """The number here in words."""
        if self.estimate is None:
            return self.lacks
        if self.is_count:
            return f"{self.estimate.value:.0f}" + (f" ({self.where})" if self.where else "")
        words_of_value = self.estimate.cell(".1f", 100) if self.percent else self.estimate.cell()
        words = f"{words_of_value[0]} [{words_of_value[1]}]" if words_of_value[1] else words_of_value[0]
        notes = ", ".join(filter(None, [self.where, f"n = {self.n:.0f}" if self.n < LEAST_CASES else ""]))
        return f"{words} ({notes})" if notes else words

    @property
    def within(self) -> bool | None:
        """Whether the paper's figure lies in the interval; None if there is no interval or no number."""
        written = NUMBER.match(self.figure)
        if self.estimate is None or not self.estimate.tested or not written:
            return None
        value = float(written[0]) / (100 if self.percent else 1)
        return bool(self.estimate.lower <= value <= self.estimate.upper)


@dataclass(frozen=True)
class ReproducedRow:
    """A row of a table: its words, a cell for each column, and its layer (0 for the embeddings), if it is of one."""

    words: str
    cells: tuple[Cell, ...]
    note: str = ""
    layer: int | None = None


def rows(item: Item, result: xr.Dataset | None, lacks: str) -> list[ReproducedRow]:
    """The rows of an item, from the result of its run; `result`: None if the run was not made, `lacks` says why."""
    if item.by == "layer":
        return list(_by_layer(item, result, lacks))
    return [
        ReproducedRow(
            row.shown.words,
            tuple(
                _either(item, column, row, figure, result, lacks)
                for column, figure in zip(item.columns, row.figures, strict=True)
            ),
            row.note,
        )
        for row in item.rows
    ]


def merged(column: ShownNumber, row: Row, labels: Mapping[str, Any]) -> ShownNumber:
    """The number of a cell: the row's own or the column's, with the labels of both."""
    number = row.shown
    shown = number if number.number else column
    assert shown.number is not None  # checked as the entry is read
    at: dict[str, Any] = {**shown.number.at, **labels}
    return replace(shown, number=replace(shown.number, variable=f"{shown.number.variable}{row.suffix}", at=at))


def by_layer(column: ShownNumber, result: xr.Dataset) -> xr.DataArray:
    """The number of a column for each layer, with its interval; for layer 0 that of the embeddings, if there is one."""
    assert column.number is not None
    array = one_model(take(result, column.number))
    if array.dims not in (("layer",), ("space",)):
        raise LackingError("layer")
    if array.dims == ("space",):
        return array.rename(space="layer")
    try:
        first = one_model(take(result, replace(column.number, variable=f"embeddings_{column.number.variable}")))
    except LackingError:
        return array
    kept = [name for name in array.coords if name in first.coords or name == "layer"]
    parts = [first.assign_coords(layer=0).expand_dims("layer"), array]
    return xr.concat([part.drop_vars(set(part.coords) - set(kept)) for part in parts], "layer", join="exact")


def one_model(array: xr.DataArray) -> xr.DataArray:
    """Without the dimension of compared models: the first of them."""
    return array.isel(model=0, drop=True) if "model" in array.dims else array


def _by_layer(item: Item, result: xr.Dataset | None, lacks: str) -> Iterator[ReproducedRow]:
    ours: list[Mapping[int, Estimate]] = []
    for column in item.columns:
        try:
            array = by_layer(column, result) if result is not None else None
        except LackingError as error:
            array, lacks = None, f"no {error}"
        ours.append({int(number["layer"]): of_array(number) for number in array} if array is not None else {})
    layers = sorted(
        {layer for numbers in ours for layer in numbers} | {n for column in item.columns for n in column.layers}
    )
    for layer in layers:
        cells = tuple(
            Cell(
                column.layers.get(layer, ""),
                numbers.get(layer),
                "",
                "" if numbers else lacks,
                column.percent or item.percent,
            )
            for column, numbers in zip(item.columns, ours, strict=True)
        )
        yield ReproducedRow(f"layer {layer}" if layer else "embeddings", cells, layer=layer)


def _either(item: Item, column: ShownNumber, row: Row, figure: str, result: xr.Dataset | None, lacks: str) -> Cell:
    """The number of the row's labels; where it is missing, of the labels in `row.instead`, which the cell names."""
    cell = _cell(item, merged(column, row, row.at), figure, result, lacks)
    if cell.estimate is not None or result is None or not row.instead:
        return cell
    other = _cell(item, merged(column, row, row.instead), figure, result, lacks)
    label = ", ".join(map(str, row.instead.values()))
    return replace(other, where=f"{other.where}, {label}" if other.where else label) if other.estimate else cell


def _cell(item: Item, shown: ShownNumber, figure: str, result: xr.Dataset | None, lacks: str) -> Cell:
    if result is None:
        return Cell(figure, lacks=lacks)
    assert shown.number is not None
    try:
        array = one_model(take(result, shown.number))
    except LackingError as error:
        return Cell(figure, lacks=f"no {error} here")
    if bool(array.isnull().all()):
        return Cell(figure, lacks="no value")
    if shown.show == "count above":
        above = array.where(array > shown.limit)
        layers = sorted({int(layer) for layer in above.dropna("layer", how="all")["layer"].values})
        where = f"of {array.size}" + (f"; {layers_named(layers)}" if layers else "")
        return Cell(figure, Estimate(float((array > shown.limit).sum())), where, is_count=True)
    if shown.show in ("highest", "lowest"):
        flat = array.stack(place=array.dims).dropna("place")
        array = flat.isel(place=int((np.argmax if shown.show == "highest" else np.argmin)(flat.values)))
        return _of(array, figure, place_of(array), percent=shown.percent or item.percent)
    if array.dims:
        return Cell(figure, lacks=f"it has {', '.join(map(str, array.dims))}")
    return _of(array, figure, _chosen(result, shown), percent=shown.percent or item.percent)


def _of(array: xr.DataArray, figure: str, where: str, *, percent: bool) -> Cell:
    """The cell of one number, with the cases that it rests on."""
    n = float(array["n_examples"]) if "n_examples" in array.coords else nan
    return Cell(figure, of_array(array), where, percent=percent, n=n)


def _chosen(result: xr.Dataset, shown: ShownNumber) -> str:
    """The head that a chosen number is of."""
    assert shown.number is not None
    if shown.number.variable != "chosen_accuracy" or not {"chosen_layer", "chosen_head"} <= set(result):
        return ""
    layer, head = (result[f"chosen_{name}"].sel(shown.number.at) for name in ("layer", "head"))
    if layer.ndim or bool(layer.isnull()):
        return ""
    return f"head {head_name(int(layer), int(head))}"
