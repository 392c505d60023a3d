"""The commands that hand results on: `export` writes tables, or the model as ONNX; `push` uploads to the hub."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headscope.front.cli.errors import user_errors
from headscope.front.cli.printing import escaped


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
        typer.Option(metavar="NAME", help="Export this variable in full precision, or 'all'; may be given again."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Folder of the tables; by default DIR/tables.")
    ] = None,
    *,
    debug: bool,
) -> None:
    """Write the tables of a saved result that its study printed, variables in full precision, or its model as ONNX."""
    with user_errors(debug):
        if format == "onnx":
            from headscope.models.onnx import export_folder

            typer.echo(escaped(export_folder(directory)))
            return
        from headscope import results
        from headscope.report.printed import export_printed
        from headscope.results.hub import fetch
        from headscope.results.tables import export_tables

        directory = fetch(directory)
        result, folder = results.read(directory), out or directory / "tables"
        if variable or format == "parquet":
            names = None if "all" in (variable or ["all"]) else variable
            paths = export_tables(result, folder, format, names)
        else:
            paths = export_printed(result, folder, format)
        for path in paths:
            typer.echo(escaped(path))


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
