"""The commands that write pages of saved results: `report` their own again, `join` several results and its page."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.front.cli.compute import shown
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.output_folder import formats, output_folder
from headscope.front.cli.printing import escaped, print_json
from headscope.front.progress import Clock, drawing_bar, progress_bar
from headscope.storage.run_lock import run_lock

if TYPE_CHECKING:
    import xarray as xr


def report(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...", help="Folders that studies wrote with -o, or folders of such folders; or hf://OWNER/NAME."
        ),
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Also write the pages of results whose numbers have not changed.")
    ] = False,
    no_title: Annotated[
        bool, typer.Option("--no-title", help="Leave out the titles inside the figures of one column.")
    ] = False,
    *,
    figures: str,
    no_figures: bool,
    json: bool,
    debug: bool,
) -> None:
    """Write the page and the figures of saved results again; of several results, also heads.html and layers.html."""
    with user_errors(debug), ExitStack() as locks:
        from headscope import results
        from headscope.results.hub import fetch

        drawn: dict[str, Any] = {"formats": formats(figures, no_figures), "column_titles": not no_title}
        show = shown(quiet=False)
        directories = list(map(fetch, directories))
        for folder in {path.resolve(): path for path in directories if path.is_dir()}.values():
            locks.enter_context(run_lock(folder, "headscope report", on_no_lock=notice))
        if len(directories) == 1 and (directories[0] / "result.nc").exists():
            result = results.read(directories[0])
            from headscope.report import write

            with drawing_bar("page", show=show) as on_figure:
                page = write(result, directories[0], on_figure=on_figure, **drawn)
            _print_pages([page], directories, json=json)
            return
        pages = list[Path]()
        try:
            with progress_bar("pages", None, show=show) as (advance, expect):
                for page in _all_pages(*directories, again=again, on_total=expect, **drawn):
                    pages.append(page)
                    advance(page.name == "report.html")  # of the results, which alone are counted before
        finally:  # those that are written are named after the bar, whatever happened then
            _print_pages(pages, directories, json=json)


def _all_pages(*directories: Path, **options: Any) -> Iterator[Path]:
    """The pages of all results written again; of a survey's folder also the portrait, of a reproduction its page."""
    from headscope.figures.export import MOST_PROCESSES
    from headscope.report import rebuild_all

    yield from rebuild_all(*directories, processes=min(os.cpu_count() or 1, MOST_PROCESSES), **options)
    if (directories[0] / "index.html").is_file():
        from headscope.papers.portrait import portrait

        yield portrait(directories, directories[0])[0][0]
    if (directories[0] / "reproduction.json").is_file():
        from headscope.papers.reproduction_page import write_reproduction

        yield write_reproduction(directories[0])


def _print_pages(pages: list[Path], directories: list[Path], *, json: bool) -> None:
    """Name the pages; as JSON also the findings of each result."""
    if not json:
        typer.echo("\n".join(map(escaped, pages)), nl=bool(pages))
        return
    from headscope.front.cli import terminal
    from headscope.report.cards.model_results import read_all

    print_json(
        {
            "pages": list(map(str, pages)),
            "results": [
                {"result": str(path), "study": result.attrs["study"], "model": result.attrs["model"]}
                | {"findings": terminal.records(result)}
                for path, result in read_all(directories).items()
            ],
        }
    )


def join(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders that studies wrote with -o, or folders of such folders."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder of the joined result.")] = Path(
        "out/joined"
    ),
    *,
    overwrite: bool,
    figures: str,
    no_figures: bool,
    json: bool,
    debug: bool,
) -> None:
    """Join results of one model on several corpora, or of the seeds of one training: where their heads agree."""
    with user_errors(debug):
        from headscope.front.cli import terminal

        files, clock = formats(figures, no_figures), Clock()
        with drawing_bar("page", show=shown(quiet=json)) as on_figure:
            result, page = write_joined(directories, out, overwrite=overwrite, formats=files, on_figure=on_figure)
        clock.stop("page")
        if json:
            print_json(terminal.as_json(result, page))
        else:
            terminal.print_result(result)
            terminal.print_end(result, out, page, str(clock))


def write_joined(
    directories: Sequence[Path], out: Path, *, overwrite: bool = False, **drawn: Any
) -> "tuple[xr.Dataset, Path]":
    """Write the results in some folders as one, and its page, with options of `report.write`; return both.

    Raises `HeadscopeError` for results that cannot be joined.
    """
    from headscope import report, results

    result = joined(directories, out)
    with output_folder(out, result.attrs["study"], overwrite=overwrite, on_no_lock=notice):
        results.save(result, out)
        return result, report.write(result, out, **drawn)


def joined(directories: Sequence[Path], out: Path) -> "xr.Dataset":
    """The results in some folders as one, but that in `out`: of several seeds, if they are of several models.

    Raises `HeadscopeError` for results that cannot be joined.
    """
    from headscope.report.cards.model_results import read_all
    from headscope.report.joined_corpora import join_corpora
    from headscope.report.joined_seeds import join_seeds
    from headscope.results.hub import fetch

    read = read_all([fetch(folder) for folder in directories])
    measured = [result for path, result in read.items() if path.parent.resolve() != out.resolve()]
    models = {str(result.attrs["model_sha256"] or result.attrs["model"]) for result in measured}
    return (join_seeds if len(models) > 1 else join_corpora)(measured)
