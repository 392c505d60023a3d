"""A result as one offline HTML page, with its figures as files beside it."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import xarray as xr

from headscope import results
from headscope.errors import DrawingError, HeadscopeError
from headscope.extras import missing
from headscope.figures.export import FORMATS, save_spec
from headscope.figures.fit import COLUMN, fitted
from headscope.files import write_atomically
from headscope.report.atlas import Atlas, atlas_of
from headscope.report.cards import index
from headscope.report.cards.head_numbers import number_names
from headscope.report.cards.head_values import head_values
from headscope.report.cards.model_results import model_of
from headscope.report.cards.page import head_cards
from headscope.report.facts import glossary, lead, provenance, summary
from headscope.report.kinds import COLOURS, NAMES
from headscope.report.parts import Figure
from headscope.report.render import rendered
from headscope.report.study_page import StudyPage, study_page
from headscope.report.tables import Table, complete, top_heads

Part = TypeVar("Part")


def write(
    result: xr.Dataset,
    directory: str | Path,
    *,
    others: Sequence[xr.Dataset] = (),
    formats: Sequence[str] = FORMATS,
    on_figure: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write `directory/report.html` and the files of its figures in `directory/figures`; return the path of the page.

    The page needs no network and no file beside it.

    Without vl-convert the page has no figures, and says so.

    * `others`: further results of the same model; the atlas shows what they say of its heads, too.
    * `formats`: of the figure files, for a paper: svg, pdf, png; `()` writes none, which takes a third of the time.
    * `on_figure`: called after each figure with the number of figures that are done and their total.

    Raises `HeadscopeError` for another format or if the folder cannot be written to, `DrawingError` if the page was
    written without a part that could not be made.
    """
    directory, failed = Path(directory), Failures()
    page = study_page(results.check(result))
    atlas = failed.attempt("the atlas", lambda: atlas_of(result, others), None)
    figures = failed.attempt("the figures", lambda: [_safe(figure) for figure in page.figures()], [])
    if missing("vl_convert"):
        figures, formats = [], ()
    specs: dict[str, dict[str, Any]] = {}
    for done, figure in enumerate(figures, 1):
        spec = failed.attempt(f"figure '{figure.name}'", partial(_saved, figure, directory, formats), None)
        specs |= {} if spec is None else {figure.name: spec}
        on_figure(done, len(figures))
    kept = [figure for figure in figures if figure.name in specs]
    if atlas and formats:
        failed.attempt("the figure of the atlas", partial(_saved, atlas.figure(), directory, formats), {})
    contents = _contents(page, kept, failed, atlas, others)
    html = rendered("page.html", specs, formats=formats, columns=True, failed=failed, **contents)
    path = write_atomically(directory / "report.html", html)
    if failed:
        raise DrawingError(
            f"page '{path}' lacks {'; '.join(failed)}; the numbers are saved in '{directory / 'result.nc'}'"
        )
    return path


class Failures(list[str]):
    """The parts of a page that could not be made, each with the reason."""

    def attempt(self, part: str, make: Callable[[], Part], instead: Part) -> Part:
        """Make a part; where that fails, note it and return `instead`."""
        try:
            return make()
        except HeadscopeError:
            raise
        except Exception as error:  # whatever a part's code raises, the rest of the page is of use
            self.append(f"{part} ({type(error).__name__}: {' '.join(str(error).split())})")
            return instead


def _saved(figure: Figure, directory: Path, formats: Sequence[str]) -> dict[str, Any]:
    """Save a figure's files; return its specification."""
    spec: dict[str, Any] = figure.chart.to_dict(validate=False)
    save_spec(spec, directory / "figures" / figure.name, formats)
    save_spec(fitted(spec, COLUMN), directory / "figures" / f"{figure.name}-column", formats)
    return spec


def _contents(
    page: StudyPage, figures: list[Figure], failed: Failures, atlas: Atlas | None, others: Sequence[xr.Dataset]
) -> dict[str, Any]:
    """The values of the template."""
    result = page.result
    names, ranked = results.means(result), number_names(result)
    first = 0 if atlas else 1  # without an atlas the first figure stands beside the findings
    top = failed.attempt("the top heads", lambda: [top_heads(result, name) for name in ranked], [])
    return {
        "attrs": result.attrs,
        "lead": lead(result),
        "facts": summary(result),
        "highlights": failed.attempt("the main findings", page.highlights, []),
        "atlas": atlas,
        "colours": COLOURS,
        "names": NAMES,
        "numbers": failed.attempt("the order of heads", lambda: head_values(model_of(result, *others)), []),
        "cards": failed.attempt("the cards", lambda: _cards(result, others, atlas), []) if atlas else [],
        "opening": figures[0] if figures else None,
        "findings": failed.attempt("the findings", page.findings, []),
        "own": failed.attempt("the scores", page.tables, []),
        "n_heads": result.sizes.get("layer", 0) * result.sizes.get("head", 0),
        "sections": [(title, list(each)) for title, each in groupby(figures[first:], lambda figure: figure.section)],
        "top": [table for table in top if table is not None],
        "heads": failed.attempt("the table of heads", lambda: _heads(result), None),
        "tables": failed.attempt("the tables", lambda: [complete(result, name) for name in names], []),
        "glossary": glossary(result),
        "provenance": provenance(result),
    }


def _cards(result: xr.Dataset, others: Sequence[xr.Dataset], atlas: Atlas) -> list[dict[str, Any]]:
    """A card for each head of the atlas: of the result alone, or of all where it is not about heads."""
    own = model_of(result)
    return head_cards(own if own.heads else model_of(result, *others), [head.place for head in atlas.heads])


def _heads(result: xr.Dataset) -> Table | None:
    """All heads with the main numbers; None for a result that is not about heads."""
    model = model_of(result)
    return index(model) if len(model.numbers) else None


def _safe(figure: Figure) -> Figure:
    """The figure with a name that is safe as a file and in the page."""
    name = re.sub(r"[^\w-]+", "-", figure.name)
    return Figure(name, figure.section, figure.chart, figure.caption, figure.variable)
