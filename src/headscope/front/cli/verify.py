"""The command `verify`: score a saved smaller model again, and compare with what its result says."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from headscope.front.cli.compute import ready_inputs
from headscope.front.cli.errors import user_errors
from headscope.front.cli.printing import print_json
from headscope.front.cli.saved_command import followed, say_followed, words_of

DIFFERENT = 1
STUDY = "shrink"

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'headscope shrink' wrote with -o.")]
Json = Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")]


def verify(directory: Directory, *, remote_code: bool, json: Json = False, debug: bool) -> None:
    """Score the model of 'headscope shrink' again, and compare scores, size and speed. Exit status: 1 different."""
    with user_errors(debug):
        from headscope import results
        from headscope.errors import HeadscopeError
        from headscope.front.cli.terminal import in_lines
        from headscope.storage.files import files_within
        from headscope.studies.size.shrink.verification import recorded, verified

        saved = results.read(directory)
        if saved.attrs["study"] != STUDY:
            raise HeadscopeError(f"result '{directory}' is of '{saved.attrs['study']}'; name a folder of 'shrink'")
        files_within(directory, "*")  # refuses links out of the folder
        words = words_of(saved, directory)
        values, left_out = followed(STUDY, words, {"remote_code": remote_code})
        recorded(saved, str(directory))  # before the models and texts of its command are read
        say_followed("scoring again", words, values, left_out)
        with TemporaryDirectory(prefix="headscope-") as scratch:
            ready = ready_inputs(STUDY, values | {"out": Path(scratch)})
        inputs = (ready["model"], ready["corpus"], ready.get("task"), ready["settings"])
        verification = verified(saved, directory / "model", *inputs)
        if json:
            print_json(verification)
        else:
            typer.echo(in_lines(verification))
    if not verification["same"]:
        raise typer.Exit(DIFFERENT)
