"""The command `join`: the results of one model on several corpora as one result, with its page."""

from pathlib import Path
from typing import Annotated

import typer

from headscope.front.cli.compute import shown
from headscope.front.cli.errors import notice, user_errors
from headscope.front.cli.output_folder import formats, output_folder
from headscope.front.cli.printing import print_json
from headscope.front.progress import Clock, drawing_bar


def join(
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders that studies wrote with -o, or folders of such folders."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder of the joined result.")] = Path(
        "out/corpora"
    ),
    *,
    overwrite: bool,
    figures: str,
    no_figures: bool,
    json: bool,
    debug: bool,
) -> None:
    """Join the results of one model on several corpora, such as treebanks of languages: which heads keep their kind."""
    with user_errors(debug):
        from headscope import report, results
        from headscope.front.cli import terminal
        from headscope.report.cards.model_results import read_all
        from headscope.report.joined_corpora import STUDY, join_corpora
        from headscope.results.hub import fetch

        files, clock = formats(figures, no_figures), Clock()
        read = read_all([fetch(folder) for folder in directories])
        result = join_corpora([result for path, result in read.items() if path.parent.resolve() != out.resolve()])
        with output_folder(out, STUDY, overwrite=overwrite, on_no_lock=notice):
            results.save(result, out)
            if not json:
                terminal.print_result(result)
            with drawing_bar("page", show=shown(quiet=json)) as on_figure:
                page = report.write(result, out, formats=files, on_figure=on_figure)
        clock.stop("page")
        if json:
            print_json(terminal.as_json(result, page))
        else:
            terminal.print_end(result, out, page, str(clock))
