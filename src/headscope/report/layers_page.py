"""What each layer knows as one offline page."""

from collections.abc import Sequence
from pathlib import Path

from headscope.extras import missing
from headscope.figures.export import DEFAULT_FORMATS, save_spec
from headscope.report.cards.model_results import MeasuredModel
from headscope.report.layer_parts import layer_parts
from headscope.report.render import rendered
from headscope.storage.files import write_atomically


def write_layers(models: Sequence[MeasuredModel], directory: str | Path) -> Path | None:
    """Write `directory/layers.html` with the numbers of every layer; return its path, None if there are no numbers.

    Raises `HeadscopeError` if the folder cannot be written to.
    """
    contents = [
        {"model": model, "parts": layer_parts(model, f"layers-{place}")}
        for place, model in enumerate(models, 1)
        if model.layers
    ]
    if not contents:
        return None
    figures = [figure for each in contents for part in each["parts"] for figure in part.figures]
    specs = {} if missing("vl_convert") else {each.name: each.chart.to_dict(validate=False) for each in figures}
    for name, spec in specs.items():
        save_spec(spec, Path(directory) / "figures" / name)
    page = rendered("layers.html", specs, models=contents, formats=DEFAULT_FORMATS)
    return write_atomically(Path(directory) / "layers.html", page)
