"""What each layer knows as one offline page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from headscope.extras import missing
from headscope.figures.export import DEFAULT_FORMATS, save_spec
from headscope.figures.layer_grid import layer_grid
from headscope.files import write_atomically
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.layer_numbers import highlights, value, words_of
from headscope.report.parts import Figure, LayerNumber
from headscope.report.render import rendered
from headscope.report.study_page import study_page
from headscope.report.tables import Column, Table
from headscope.report.wording import Cell

CAPTION = (
    "Each row is shaded from its least value to its greatest: compare layers, not rows. Framed: the layer that other "
    "data have chosen. Layer 0 are the embeddings. Intervals are in the tables."
)


def write_layers(models: Sequence[MeasuredModel], directory: str | Path) -> Path | None:
    """Write `directory/layers.html` with the numbers of every layer; return its path, None if there are no numbers.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    contents = [_contents(model, f"layers-{place}") for place, model in enumerate(models, 1) if model.layers]
    if not contents:
        return None
    specs = {each.name: each.chart.to_dict(validate=False) for one in contents for each in one["figures"]}
    for name, spec in specs.items():
        save_spec(spec, Path(directory) / "figures" / name)
    page = rendered("layers.html", specs, models=contents, formats=DEFAULT_FORMATS)
    return write_atomically(Path(directory) / "layers.html", page)


def _contents(model: MeasuredModel, name: str) -> dict[str, Any]:
    grid = Figure(name, "", layer_grid(_grid(model.layers), "Layers"), CAPTION, "")
    pictures = [each for source in model.sources for each in study_page(source.result).layer_pictures()]
    pictures = [replace(each, name=f"{name}-{place}-{each.name}", variable="") for place, each in enumerate(pictures)]
    return {
        "model": model,
        "highlights": list(highlights(model.layers)),
        "figures": [] if missing("vl_convert") else [grid, *pictures],
        "tables": list(_tables(model.layers, name)),
    }


def _grid(numbers: list[LayerNumber]) -> xr.DataArray:
    """All numbers as one array, with the words of each value and the chosen layers."""
    rows = [each.array.reset_coords(drop=True) for each in numbers]
    names = xr.Variable("number", [each.words for each in numbers])
    whole = xr.concat(rows, names, join="outer").transpose("number", "layer").rename("value")
    layers = whole["layer"].values.tolist()
    texts = [
        [words_of(each, layer) if layer in each.array["layer"].values else "" for layer in layers] for each in numbers
    ]
    chosen = [-1 if each.chosen is None else each.chosen for each in numbers]
    return whole.assign_coords(text=(("number", "layer"), texts), chosen=("number", chosen))


def _tables(numbers: list[LayerNumber], name: str) -> Iterator[Table]:
    """A table for each topic: numbers by layer, with their intervals."""
    for place, topic in enumerate(dict.fromkeys(each.topic for each in numbers), 1):
        mine = [each for each in numbers if each.topic == topic]
        layers = sorted({int(layer) for each in mine for layer in each.array["layer"].values})
        columns = tuple(Column(str(layer), f"Layer {layer}" if layer else "Embeddings") for layer in layers)
        rows = [((each.words,), [_cell(each, layer) for layer in layers]) for each in mine]
        yield Table(f"{name}-{place}", f"{topic}, with 95% intervals", "", "", ("Number",), columns, rows)


def _cell(each: LayerNumber, layer: int) -> Cell | None:
    if layer not in each.array["layer"].values or not bool(each.array.sel(layer=layer).notnull()):
        return None
    estimate = value(each, layer)
    return estimate.cell(".1f", 100) if each.is_share else estimate.cell()
