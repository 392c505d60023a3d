"""The pages of saved results, written again."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import xarray as xr

from headscope import results
from headscope.figures.export import DEFAULT_FORMATS
from headscope.report.cards import MeasuredModel
from headscope.report.cards.model_results import models_in, read_all
from headscope.report.heads_page import write_heads
from headscope.report.layers_page import write_layers
from headscope.report.result_page import write


def rebuild(
    directory: str | Path,
    *,
    formats: Sequence[str] = DEFAULT_FORMATS,
    on_figure: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write the page of a saved result again; return its path. `formats` and `on_figure` as for `write`.

    Raises `HeadscopeError` if the folder has no result or cannot be written to.
    """
    return write(results.read(directory), directory, formats=formats, on_figure=on_figure)


def rebuild_all(
    *directories: str | Path,
    formats: Sequence[str] = DEFAULT_FORMATS,
    on_total: Callable[[int], None] = lambda total: None,
) -> Iterator[Path]:
    """Write the pages of all results in some folders again, `heads.html` and `layers.html` in the first of these.

    The atlas of each page shows what all results of its model say of the heads. `heads.html` has all cards,
    `layers.html` the numbers of every layer; each is left out where no result has any.

    * `on_total`: called with the number of results, once they are found.

    Returns: the paths of the pages.

    Raises `HeadscopeError` if a folder has no result, one cannot be read, or it cannot be written to.
    """
    found = read_all(directories)
    on_total(len(found))
    models = models_in(found)
    for path, result in found.items():
        yield write(result, path.parent, others=_others(models, path), formats=formats)
    if with_heads := [model for model in models if len(model.numbers)]:
        yield write_heads(with_heads, Path(directories[0]))
    if page := write_layers(models, Path(directories[0])):
        yield page


def _others(models: Sequence[MeasuredModel], path: Path) -> list[xr.Dataset]:
    """The other results of the first model that a result is about."""
    sources = next((model.sources for model in models if path in [source.path for source in model.sources]), ())
    return [source.result for source in sources if source.path != path]
