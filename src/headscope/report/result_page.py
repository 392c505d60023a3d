"""A result as one offline HTML page, with its figures as files beside it."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import xarray as xr

from headscope import results
from headscope.catalog import missing
from headscope.errors import DrawingError
from headscope.figures.export import DEFAULT_FORMATS, Save, check_formats, saving
from headscope.figures.fit import in_column
from headscope.figures.labels import special_tokens
from headscope.report.atlas import Atlas, atlas_of
from headscope.report.cards import Card, index
from headscope.report.cards.head_numbers import number_names
from headscope.report.cards.main_numbers import head_values
from headscope.report.cards.model_results import MeasuredModel, Source, model_of
from headscope.report.facts import described
from headscope.report.kinds import COLOURS
from headscope.report.page import Page, Parts
from headscope.report.parts import Figure
from headscope.report.study_page import StudyPage, study_page
from headscope.report.tables import Table, complete, top_heads

ATLAS = "atlas"
Spec = dict[str, Any]
Files = list[Future[list[Path]]]


@dataclass(frozen=True)
class Measured:
    """What a page shows: a result, and further results of the same model."""

    result: xr.Dataset
    others: Sequence[Source] = ()
    column_titles: bool = True

    @cached_property
    def study(self) -> StudyPage:
        """The parts that the study lays out."""
        return study_page(self.result)

    @cached_property
    def model(self) -> MeasuredModel:
        """The model by the result alone."""
        return model_of(self.result)

    @cached_property
    def joint(self) -> MeasuredModel:
        """The model by all results."""
        return replace(self.model, sources=(*self.model.sources, *self.others)) if self.others else self.model

    @cached_property
    def atlas(self) -> Atlas | None:
        """All heads as pictures; None without maps or numbers of heads."""
        others = [other.result for other in self.others]
        return atlas_of(self.result, others) if number_names(self.result) else None


def write(
    result: xr.Dataset,
    directory: str | Path,
    *,
    others: Sequence[Source] = (),
    formats: str | Sequence[str] = DEFAULT_FORMATS,
    column_titles: bool = True,
    on_figure: Callable[[int, int], None] = lambda done, total: None,
    made_of: str = "",
) -> Path:
    """Write `directory/report.html` and the files of its figures in `directory/figures`; return the path of the page.

    The page needs no network and no file beside it.

    Without vl-convert the page has no figures, and says so.

    * `result`: what a study returned; `directory`: the folder, which is made if it is missing.
    * `others`: further results of the same model; the atlas shows what they say of its heads, too.
    * `formats`: of the figure files, for a paper: svg, pdf, png, or several; `()` writes none.
      PNG takes longer than the page.
    * `column_titles`: whether the figures of one column have their titles inside.
    * `on_figure`: called after each figure with the number of figures that are done and their total.
    * `made_of`: a mark that a page which lacks nothing bears.

    Raises `HeadscopeError` for another format or if the folder cannot be written to, `DrawingError` if the page was
    written without a part that could not be made.
    """
    formats = (formats,) if isinstance(formats, str) else formats
    check_formats(formats)  # before all is drawn
    with special_tokens(result.attrs):
        measured = Measured(results.check(result), others, column_titles)
        return _written(measured, Path(directory), formats, on_figure, made_of)


def _written(
    measured: Measured, directory: Path, formats: Sequence[str], on_figure: Callable[[int, int], None], made_of: str
) -> Path:
    page = Page(directory / "report.html", "page.html")
    page.make(DRAWN, measured)
    figures: list[Figure] = [*page.contents.pop("figures"), *page.contents.pop("atlas_figure")]
    formats = () if missing("vl_convert") else formats
    with saving(formats) as save:
        drawn = [page.attempt(_named(figure), _start, figure, page.path.parent, save, measured) for figure in figures]
        page.make(WRITTEN, measured)  # while processes make the files of the figures
        for done, (figure, drawing) in enumerate(zip(figures, drawn, strict=True), 1):
            if drawing and (spec := page.attempt(_named(figure), _finish, *drawing)):
                page.specs[figure.name] = spec
            on_figure(done, len(figures))
    page.specs.pop(ATLAS, None)  # the page has the atlas itself
    shown = [figure for figure in figures if figure.name in page.specs]
    page.contents |= _arranged(shown, beside_findings=not page.contents["atlas"])
    page.contents |= {"formats": formats, "columns": True, "without_cards": not page.contents["cards"]}
    page.contents |= described(measured.result) | {"colours": COLOURS, "made_of": "" if page.failed else made_of}
    path = page.write()
    if page.failed:
        parts, saved = "; ".join(page.failed), path.with_name("result.nc")
        raise DrawingError(f"page '{path}' lacks {parts}; the numbers are saved in '{saved}'")
    return path


def _figures(measured: Measured) -> list[Figure]:
    """The figures of the study, with names that are safe as files and in the page; none without vl-convert."""
    figures = [] if missing("vl_convert") else measured.study.figures()
    return [replace(figure, name=re.sub(r"[^\w-]+", "-", figure.name)) for figure in figures]


def _cards(measured: Measured) -> list[Card]:
    """Cards of the heads of the atlas, if any result has numbers of heads."""
    model = measured.model if measured.model.heads else measured.joint
    return [Card(model, *head.index).read() for head in measured.atlas.heads] if measured.atlas and model.heads else []


def _top(measured: Measured) -> list[Table]:
    tables = [top_heads(measured.result, name) for name in number_names(measured.result)]
    return [table for table in tables if table is not None]


# Charts come first: processes make their files while the words and tables are made.
DRAWN: Parts[Measured] = {
    "atlas": ("the atlas", lambda measured: measured.atlas),
    "figures": ("the figures", _figures),
    "atlas_figure": ("the figure of the atlas", lambda measured: [measured.atlas.figure()] if measured.atlas else []),
}
# The words of the study, then those of its heads.
WRITTEN: Parts[Measured] = {
    "highlights": ("the main findings", lambda measured: measured.study.highlights()),
    "findings": ("the findings", lambda measured: measured.study.findings()),
    "own": ("the scores", lambda measured: measured.study.tables()),
    "tables": (
        "the tables",
        lambda measured: [complete(measured.result, name) for name in results.means(measured.result)],
    ),
    "top": ("the top heads", _top),
    "heads": ("the table of heads", lambda measured: index(measured.model) if len(measured.model.numbers) else None),
    "numbers": ("the order of heads", lambda measured: head_values(measured.joint.main_numbers)),
    "cards": ("the cards", _cards),
}


def _named(figure: Figure) -> str:
    return f"figure '{figure.name}'"


def _start(figure: Figure, directory: Path, save: Save, measured: Measured) -> tuple[Spec, Files]:
    """Begin to save a figure in both widths; return its chart, and the files to wait for."""
    spec, stem = figure.chart.to_dict(validate=False), directory / "figures" / figure.name
    column = in_column(spec, title=measured.column_titles)
    return spec, [save(spec, stem), save(column, stem.with_name(f"{stem.name}-column"))]


def _finish(spec: Spec, files: Files) -> Spec:
    """Wait for the files of a figure; return its chart."""
    for file in files:
        file.result()
    return spec


def _arranged(figures: list[Figure], *, beside_findings: bool) -> dict[str, Any]:
    """The figures in the template: the first one beside the findings or not, and all others by section."""
    rest = figures[1:] if beside_findings else figures
    return {
        "opening": figures[0] if figures else None,
        "sections": [(title, list(section)) for title, section in groupby(rest, lambda figure: figure.section)],
    }
