"""The commands that make something else of results: `export` tables or an ONNX file, `push` a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from headscope.errors import HeadscopeError
from headscope.front.cli.errors import user_errors
from headscope.front.cli.printing import escaped

if TYPE_CHECKING:
    import xarray as xr

PRINTED = ("latex", "markdown")  # formats for people


def export(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that a study wrote with -o; for onnx also a model's.")
    ],
    format: Annotated[
        Literal["csv", "latex", "markdown", "parquet", "onnx"],
        typer.Option(help="Format of the tables, or onnx for the model."),
    ] = "csv",
    variable: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Export all values of this variable, or 'all'; may be given again."),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            metavar="N",
            help="Keep the N rows with the largest values of a LaTeX or Markdown table.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Folder of the tables; by default DIR/tables.")
    ] = None,
    *,
    debug: bool,
) -> None:
    """Write the tables of saved results that studies printed, all values of variables, or a model as ONNX."""
    with user_errors(debug):
        if format == "onnx":
            from headscope.models.onnx import export_folder

            typer.echo(escaped(export_folder(directory)))
            return
        from headscope.report.cards.model_results import read_all
        from headscope.results.hub import fetch
        from headscope.results.tables import refuse_unknown

        if top and format not in PRINTED:
            raise HeadscopeError(f"--top {top} is for {' and '.join(PRINTED)}; {format} has all rows")
        directory, names = fetch(directory), [name for name in variable or () if name != "all"]
        found = read_all([directory])
        for name in names:  # of a survey, one result at least has it
            if all(name not in result for result in found.values()):
                refuse_unknown(next(iter(found.values())), name)
        for file, result in found.items():
            there = [name for name in names if name in result]
            if names and not there and "all" not in (variable or ()):
                continue
            inner = file.parent.relative_to(directory)
            folder = out / inner if out else file.parent / "tables"
            for path in _exported(result, folder, format, None if variable and "all" in variable else there, top):
                typer.echo(escaped(path))


def _exported(
    result: "xr.Dataset", folder: Path, format: Any, variables: list[str] | None, top: int | None
) -> list[Path]:
    """Write tables of a result: in full precision as CSV or Parquet, as printed in LaTeX and Markdown.

    * `variables`: those that are exported; None for all. Of all, those too large to print are in full precision.
    """
    from headscope import results
    from headscope.report.printed import export_printed
    from headscope.report.tables import MOST_CELLS
    from headscope.results.tables import export_tables

    if format == "parquet" or (format == "csv" and variables != []):
        return export_tables(result, folder, format, variables)
    if variables is not None:
        return export_printed(result, folder, format, variables, top)
    large = [name for name in results.means(result) if result[name].size > MOST_CELLS]
    small = [name for name in results.means(result) if name not in large]
    written = export_tables(result, folder, format, large) if large else []
    return written + export_printed(result, folder, format, small, top)


def push(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that a study wrote with -o, or a folder of such folders.")
    ],
    name: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="A data set repository; it is made if missing.")],
    public: Annotated[
        bool, typer.Option("--public", help="Anybody can read a new repository; by default you alone.")
    ] = False,
    *,
    debug: bool,
) -> None:
    """Upload saved results to a data set on the Hugging Face hub, with a card; no corpus, model or page."""
    with user_errors(debug):
        from headscope.results.push import push

        typer.echo(escaped(push(directory, name, public=public)))
