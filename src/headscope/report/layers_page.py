"""What each layer knows as one offline page."""

from collections.abc import Sequence
from pathlib import Path

from headscope.figures.export import DEFAULT_FORMATS, save_spec
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.layer_parts import layer_parts
from headscope.report.page import Page


def write_layers(models: Sequence[MeasuredModel], directory: str | Path) -> Path | None:
    """Write `directory/layers.html` with the numbers of every layer; return its path, None if there are no numbers.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    named = [(model, f"layers-{number}") for number, model in enumerate(models, 1) if model.layers]
    contents = [{"model": model, "parts": layer_parts(model, name)} for model, name in named]
    if not contents:
        return None
    figures = [figure for model in contents for part in model["parts"] for figure in part.figures]
    page = Page(Path(directory) / "layers.html", "layers.html", {"models": contents, "formats": DEFAULT_FORMATS})
    page.draw(figures, save_spec)
    return page.write()
