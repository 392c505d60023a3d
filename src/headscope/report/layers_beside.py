"""The layers of several models beside each other: the numbers that more than one of them has."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headscope.figures.layer_scores import layer_grid
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.layer_numbers import grid_of
from headscope.report.parts import Figure, LayerNumber
from headscope.report.tables import Column, Table
from headscope.report.wording import Cell

CAPTION = (
    "The numbers that more than one model has, a row for each model. Each row is shaded from its least value to its "
    "greatest: compare where models have their best layers. Framed: the layer that other data have chosen. Layer 0 are "
    "the embeddings."
)
Row = tuple[MeasuredModel, LayerNumber]


def shared_numbers(models: Sequence[MeasuredModel]) -> dict[tuple[str, str], list[Row]]:
    """The numbers that several models have, by topic and words, in the order of the first model that has them."""
    found: dict[tuple[str, str], list[Row]] = {}
    for model in models:
        for number in model.layers:
            found.setdefault((number.topic, number.words), []).append((model, number))
    return {key: rows for key, rows in found.items() if len(rows) > 1}


def beside(models: Sequence[MeasuredModel]) -> Figure | None:
    """All shared numbers as one grid, with the best layer of each model as its table; None without any.

    Models of one name are told apart by their order.
    """
    shared = shared_numbers(models)
    if not shared:
        return None
    names = _names(models)
    rows = [
        replace(number, words=f"{words}: {names[model.sha256]}")
        for (_, words), pairs in shared.items()
        for model, number in pairs
    ]
    chart = layer_grid(grid_of(rows), "Layers of several models")
    return Figure("layers-beside", "", chart, CAPTION, "", _table(shared, names))


def _names(models: Sequence[MeasuredModel]) -> dict[str, str]:
    names = [model.name for model in models]
    return {
        model.sha256: f"{model.name} ({number})" if names.count(model.name) > 1 else model.name
        for number, model in enumerate(models, 1)
    }


def _table(shared: dict[tuple[str, str], list[Row]], names: dict[str, str]) -> Table:
    """The layer that is chosen, or the highest, of each model, with its number."""
    columns = tuple(Column(sha256, name) for sha256, name in names.items())
    rows = [((words,), list(_cells(pairs, list(names)))) for (_, words), pairs in shared.items()]
    return Table("layers-beside", "The chosen or highest layer of each model", ("Number",), columns, rows)


def _cells(pairs: Sequence[Row], order: Sequence[str]) -> Iterator[Cell | None]:
    by_model = {model.sha256: number for model, number in pairs}
    for number in map(by_model.get, order):
        present = None if number is None else number.array.dropna("layer")
        if number is None or present is None or not present.size:
            yield None
            continue
        layer = int(present["layer"][int(present.argmax("layer"))]) if number.chosen is None else number.chosen
        value, bounds = number.cell(layer) or ("unknown", "")
        yield f"layer {layer} of {int(present['layer'].max())}: {value}", bounds
