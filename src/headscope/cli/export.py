"""The command `export`: the numbers of a saved result as tables."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from headscope.cli.errors import user_errors
from headscope.cli.options import Debug


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that a study wrote with -o.")],
    format: Annotated[Literal["csv", "parquet", "latex"], typer.Option(help="Format of the tables.")] = "csv",
    variable: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Export this variable; may be given again. By default all but maps."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="Folder of the tables; by default DIR/tables.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write the variables of a saved result as tables in full precision, one file each."""
    with user_errors(debug):
        from headscope import results
        from headscope.results.export import export_tables

        for path in export_tables(results.read(directory), out or directory / "tables", format, variable):
            typer.echo(path)
