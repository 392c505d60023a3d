"""The pages of saved results, written again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import xarray as xr

from headscope import results
from headscope.figures.export import DEFAULT_FORMATS
from headscope.report.cards import MeasuredModel, gather, write_heads
from headscope.report.cards.model_results import found_in
from headscope.report.page import write


def rebuild(directory: str | Path, *, formats: Sequence[str] = DEFAULT_FORMATS) -> Path:
    """Write the page of a saved result again; return its path. `formats` as for `write`.

    Raises `HeadscopeError` if the folder has no result or cannot be written to.
    """
    return write(results.read(directory), directory, formats=formats)


def rebuild_all(*directories: str | Path, formats: Sequence[str] = DEFAULT_FORMATS) -> Iterator[Path]:
    """Write the pages of all results in some folders again, and `heads.html` in the first of these; their paths.

    The atlas of each page shows what all results of its model say of the heads. `heads.html` has all cards.

    Raises `HeadscopeError` if a folder has no result, one cannot be read, or it cannot be written to.
    """
    models = gather(directories)
    for path in dict.fromkeys(path for directory in directories for path in found_in(Path(directory))):
        yield write(results.read(path), path.parent, others=_others(models, path), formats=formats)
    if models:
        yield write_heads(models, Path(directories[0]))


def _others(models: Sequence[MeasuredModel], path: Path) -> list[xr.Dataset]:
    """The other results of the first model that a result is about."""
    sources = next((model.sources for model in models if path in [source.path for source in model.sources]), ())
    return [source.result for source in sources if source.path != path]
