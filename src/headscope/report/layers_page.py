"""What each layer knows as one offline page, and its parts, which the viewer shows, too."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headscope.catalog import missing
from headscope.figures.by_layer import layer_grid
from headscope.figures.export import DEFAULT_FORMATS, save_spec, svg
from headscope.figures.fit import fitted
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.layer_numbers import grid_of, highlights
from headscope.report.page import Page
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.render import fragment
from headscope.report.tables import Column, Table
from headscope.report.wording import Cell

NUMBERS = "What each layer knows"
CAPTION = (
    "Each row is shaded from its lowest value to its highest: compare layers, not rows. Framed: the layer that other "
    "data have chosen. Layer 0 is the embeddings. Numbers with intervals are in the tables."
)
# The widths of a picture in the viewer, in pixels: beside a head, on a phone.
WIDTHS = {"wide": 560, "narrow": 330}
# On the left of a picture: letters of the browser may be wider than those that the picture was made with.
ROOM = 20
BESIDE = (
    "The numbers that more than one model has, a row for each model. Each row is shaded from its lowest value to its "
    "highest: compare where models have their best layers. Framed: the layer that other data have chosen. Layer 0 is "
    "the embeddings."
)
Row = tuple[MeasuredModel, LayerNumber]


def write_layers(models: Sequence[MeasuredModel], directory: str | Path, *, made_of: str = "") -> Path | None:
    """Write `directory/layers.html` with the numbers of every layer, those of several models first, beside each other.

    Returns: its path, None if there are no numbers. Raises `HeadscopeError` if the folder cannot be written to.
    """
    named = [(model, f"layers-{number}") for number, model in enumerate(models, 1) if model.layers]
    contents = [{"model": model, "parts": layer_parts(model, name)} for model, name in named]
    if not contents:
        return None
    together = [figure for figure in [beside([model for model, _ in named])] if figure]
    figures = [*together, *(figure for model in contents for part in model["parts"] for figure in part.figures)]
    context = {"models": contents, "together": together, "formats": DEFAULT_FORMATS}
    page = Page(Path(directory) / "layers.html", "layers.html", context)
    page.contents["made_of"] = made_of
    page.draw(figures, save_spec)
    return page.write()


@dataclass(frozen=True, slots=True)
class LayerPart:
    """A part of what layers know: the best layers, figures, and tables."""

    title: str
    highlights: tuple[Finding, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def layer_parts(model: MeasuredModel, name: str = "layers") -> list[LayerPart]:
    """The numbers of every layer of a model, and a part for each kind of picture; none without numbers."""
    if not model.layers:
        return []
    grid = Figure(name, "", layer_grid(grid_of(model.layers), "Layers"), CAPTION, "")
    pictures = [figure for source in model.sources for figure in source.page.layer_figures()]
    pictures = [
        replace(figure, name=f"{name}-{index}-{figure.name}", variable="") for index, figure in enumerate(pictures)
    ]
    numbers = LayerPart(NUMBERS, tuple(highlights(model.layers)), (grid,), tuple(_tables(model.layers, name)))
    sections: dict[str, list[Figure]] = {}
    for figure in pictures:
        sections.setdefault(figure.section, []).append(figure)
    return [numbers, *(LayerPart(title, (), tuple(figures), ()) for title, figures in sections.items())]


def part_fragment(part: LayerPart) -> str:
    """A part as a piece of HTML, its figures as images in two widths; without vl-convert only its tables."""
    figures = [] if missing("vl_convert") else part.figures
    images = {figure.name: _images(figure) for figure in figures}
    return fragment("layer_part.html", part=part, images=images, no_figures=not images)


def _images(figure: Figure) -> dict[str, str]:
    """A figure as addresses of SVG images, for each of `WIDTHS`."""
    spec = figure.chart.to_dict(validate=False)
    spec |= {"background": "transparent", "padding": {"left": ROOM, "top": 5, "right": 5, "bottom": 5}}
    pictures = {name: svg(fitted(spec, width - ROOM)).encode() for name, width in WIDTHS.items()}
    return {name: f"data:image/svg+xml;base64,{base64.b64encode(file).decode()}" for name, file in pictures.items()}


def _tables(numbers: list[LayerNumber], name: str) -> Iterator[Table]:
    """A table for each topic: numbers by layer, with their intervals."""
    for index, topic in enumerate(dict.fromkeys(number.topic for number in numbers), 1):
        mine = [number for number in numbers if number.topic == topic]
        layers = sorted({layer for number in mine for layer in number.layers})
        columns = tuple(Column(str(layer), f"Layer {layer}" if layer else "Embeddings") for layer in layers)
        rows = [((number.words,), [number.cell(layer) for layer in layers]) for number in mine]
        yield Table(f"{name}-{index}", f"{topic}, with 95% intervals", ("Number",), columns, rows)


def shared_numbers(models: Sequence[MeasuredModel]) -> dict[tuple[str, str], list[Row]]:
    """The numbers that several models have, by topic and words, in the order of the first model that has them."""
    found: dict[tuple[str, str], list[Row]] = {}
    for model in models:
        for number in model.layers:
            found.setdefault((number.topic, number.words), []).append((model, number))
    return {key: rows for key, rows in found.items() if len(rows) > 1}


def beside(models: Sequence[MeasuredModel]) -> Figure | None:
    """All shared numbers as one grid, with the best layer of each model, by number, as its table; None without any."""
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
    return Figure("layers-beside", "", chart, BESIDE, "", _table(shared, names))


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
