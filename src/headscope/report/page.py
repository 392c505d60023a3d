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
from headscope.figures.export import DEFAULT_FORMATS
from headscope.figures.fit import COLUMN, fitted
from headscope.figures.parallel import Save, saving
from headscope.report.atlas import Atlas, atlas_of
from headscope.report.cards import index
from headscope.report.cards.head_numbers import number_names
from headscope.report.cards.head_values import head_values
from headscope.report.cards.model_results import MeasuredModel, model_of
from headscope.report.cards.page import head_cards
from headscope.report.facts import command_line, glossary, lead, model_title, provenance, summary
from headscope.report.kinds import COLOURS
from headscope.report.parts import Figure
from headscope.report.render import rendered
from headscope.report.study_page import StudyPage, study_page
from headscope.report.tables import complete, top_heads
from headscope.storage.files import write_atomically

Part = TypeVar("Part")
ATLAS = "the figure of the atlas"


def write(
    result: xr.Dataset,
    directory: str | Path,
    *,
    others: Sequence[xr.Dataset] = (),
    formats: Sequence[str] = DEFAULT_FORMATS,
    on_figure: Callable[[int, int], None] = lambda done, total: None,
) -> Path:
    """Write `directory/report.html` and the files of its figures in `directory/figures`; return the path of the page.

    The page needs no network and no file beside it.

    Without vl-convert the page has no figures, and says so.

    * `others`: further results of the same model; the atlas shows what they say of its heads, too.
    * `formats`: of the figure files, for a paper: svg, pdf, png; `()` writes none.
      PDF and PNG take longer than the page.
    * `on_figure`: called after each figure with the number of figures that are done and their total.

    Raises `HeadscopeError` for another format or if the folder cannot be written to, `DrawingError` if the page was
    written without a part that could not be made.
    """
    directory, failed = Path(directory), Failures()
    page = study_page(results.check(result))
    if undrawable := bool(missing("vl_convert")):
        formats = ()
    specs: dict[str, dict[str, Any]] = {}
    with saving(formats) as save:  # the files are made while the tables and cards are
        start = partial(_start, directory=directory, save=save)
        about_heads = bool(number_names(result))
        atlas = failed.attempt("the atlas", lambda: atlas_of(result, others), None) if about_heads else None
        figures = failed.attempt("the figures", lambda: [] if undrawable else [*map(_safe, page.figures())], [])
        finishing = [failed.attempt(f"figure '{each.name}'", partial(start, each), dict) for each in figures]
        picture = failed.attempt(ATLAS, lambda: start(atlas.figure()) if atlas and formats else dict, dict)
        contents = _contents(page, failed, atlas, others)
        for done, (figure, finish) in enumerate(zip(figures, finishing, strict=True), 1):
            if spec := failed.attempt(f"figure '{figure.name}'", finish, {}):
                specs[figure.name] = spec
            on_figure(done, len(figures))
        failed.attempt(ATLAS, picture, {})
    contents |= _placed([figure for figure in figures if figure.name in specs], beside_findings=not atlas)
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


def _start(figure: Figure, directory: Path, save: Save) -> Callable[[], dict[str, Any]]:
    """Begin to save a figure in both widths. Returns: a function that waits for its files and gives its chart."""
    spec: dict[str, Any] = figure.chart.to_dict(validate=False)
    stem = directory / "figures" / figure.name
    files = [save(spec, stem), save(fitted(spec, COLUMN), stem.with_name(f"{stem.name}-column"))]

    def finish() -> dict[str, Any]:
        for file in files:
            file.result()
        return spec

    return finish


def _placed(figures: list[Figure], *, beside_findings: bool) -> dict[str, Any]:
    """The figures in the template: the first one beside the findings or not, and all others by section."""
    first = 1 if beside_findings else 0
    return {
        "opening": figures[0] if figures else None,
        "sections": [(title, list(each)) for title, each in groupby(figures[first:], lambda figure: figure.section)],
    }


def _contents(page: StudyPage, failed: Failures, atlas: Atlas | None, others: Sequence[xr.Dataset]) -> dict[str, Any]:
    """The values of the template, without the figures."""
    result = page.result
    names, ranked, model = results.means(result), number_names(result), model_of(result)
    joint = model_of(result, *others) if others else model
    top = failed.attempt("the top heads", lambda: [top_heads(result, name) for name in ranked], [])
    cards = failed.attempt("the cards", lambda: _cards(model if model.heads else joint, atlas), []) if atlas else []
    return {
        "attrs": result.attrs,
        "model_title": model_title(result),
        "lead": lead(result),
        "facts": summary(result),
        "highlights": failed.attempt("the main findings", page.highlights, []),
        "atlas": atlas,
        "colours": COLOURS,
        "numbers": failed.attempt("the order of heads", lambda: head_values(joint), []),
        "cards": cards,
        "without_cards": not cards,
        "findings": failed.attempt("the findings", page.findings, []),
        "own": failed.attempt("the scores", page.tables, []),
        "n_heads": result.sizes.get("layer", 0) * result.sizes.get("head", 0),
        "top": [table for table in top if table is not None],
        "heads": failed.attempt("the table of heads", lambda: index(model) if len(model.numbers) else None, None),
        "tables": failed.attempt("the tables", lambda: [complete(result, name) for name in names], []),
        "glossary": glossary(result),
        "provenance": provenance(result),
        "command_line": command_line(result),
    }


def _cards(model: MeasuredModel, atlas: Atlas) -> list[dict[str, Any]]:
    """Cards of the heads of the atlas, if any result has numbers of heads."""
    return head_cards(model, [head.place for head in atlas.heads]) if model.heads else []


def _safe(figure: Figure) -> Figure:
    """The figure with a name that is safe as a file and in the page."""
    name = re.sub(r"[^\w-]+", "-", figure.name)
    return Figure(name, figure.section, figure.chart, figure.caption, figure.variable)
