"""A result as one offline HTML page, with its figures as files beside it."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import xarray as xr

from headscope import results
from headscope.figures._export import save_spec, write_whole
from headscope.report._facts import glossary, lead, provenance, summary
from headscope.report._render import rendered
from headscope.report._tables import Table, complete, top_heads
from headscope.report.charts import drawn
from headscope.report.findings import found
from headscope.report.heads import Model, gather, index, write_heads
from headscope.report.heads._gather import Source, found_in
from headscope.report.parts import Figure
from headscope.report.tables import shown


def write(result: xr.Dataset, directory: str | Path) -> Path:
    """Write `directory/report.html` and `directory/figures/`; return the path of the page.

    The page needs no network and no file beside it; the figures are SVG, PDF and PNG for a paper.
    Raises `HeadscopeError` if the folder cannot be written to, `ValueError` if the result does not use
    the words of `results.DIMENSIONS`.
    """
    directory = Path(directory)
    figures = [_safe(figure) for figure in drawn(results.check(result))]
    specs = {figure.name: figure.chart.to_dict(validate=False) for figure in figures}
    for name, spec in specs.items():
        save_spec(spec, directory / "figures" / name)
    page = rendered("page.html", specs, files=True, **_contents(result, figures))
    return write_whole(directory / "report.html", page.encode())


def rebuild(directory: str | Path) -> Path:
    """Write the page of a saved result again; return its path.

    Raises `HeadscopeError` if the folder has no result or cannot be written to.
    """
    return write(results.read(directory), directory)


def rebuild_all(directory: str | Path) -> Iterator[Path]:
    """Write the pages of all results in a folder again, and `heads.html` with the cards of their heads; their paths.

    Raises `HeadscopeError` if the folder has no result, one cannot be read, or it cannot be written to.
    """
    directory = Path(directory)
    models = gather([directory])
    for path in found_in(directory):
        yield rebuild(path.parent)
    if models:
        yield write_heads(models, directory)


def _contents(result: xr.Dataset, figures: list[Figure]) -> dict[str, Any]:
    """What the template shows."""
    names = results.means(result)
    return {
        "attrs": result.attrs,
        "lead": lead(result),
        "facts": summary(result),
        "findings": found(result),
        "own": shown(result),
        "n_heads": result.sizes.get("layer", 0) * result.sizes.get("head", 0),
        "sections": [(title, list(group)) for title, group in groupby(figures, key=lambda figure: figure.section)],
        "top": [table for name in names if (table := top_heads(result, name)) is not None],
        "heads": _heads(result),
        "tables": [complete(result, name) for name in names],
        "glossary": glossary(result),
        "provenance": provenance(result),
    }


def _heads(result: xr.Dataset) -> Table | None:
    """All heads with the main numbers; None for a result that is not about heads."""
    model = Model((str(result.attrs["model"]),), "", (Source(Path("result.nc"), result),))
    return index(model) if len(model.numbers) else None


def _safe(figure: Figure) -> Figure:
    """The figure with a name that is safe as a file and in the page."""
    name = re.sub(r"[^\w-]+", "-", figure.name)
    return Figure(name, figure.section, figure.chart, figure.caption, figure.variable)
