"""The commands: one for each study of the catalog, and tools: `list`, `report`, `head`, `export`, `rerun`, ..."""

import gc
import os
import sys
from collections.abc import Callable, Iterable
from inspect import getdoc
from typing import Annotated, Any

import typer

from headscope import __version__, catalog
from headscope.errors import names_full_memory
from headscope.front.cli.claims import cite, claims
from headscope.front.cli.errors import INTERRUPTED, Commands, out_of_memory, user_errors
from headscope.front.cli.export import export, push
from headscope.front.cli.head import head
from headscope.front.cli.parameters import with_shared
from headscope.front.cli.printing import list_catalog
from headscope.front.cli.report import join, report
from headscope.front.cli.reproduce import reproduce
from headscope.front.cli.rerun import rerun, verify
from headscope.front.cli.study import command, tool, verbs
from headscope.front.cli.survey import survey
from headscope.front.cli.view import view

EVERYTHING, TOOLS = "Everything: what does my model do?", "Results and tools"
HELP = "What every attention head of a transformer does, which heads matter, and what fine-tuning changed."
EXAMPLES = (
    "Begin with: headscope survey minilm sample -o out. Options and an example of a study: headscope STUDY --help."
)


def main() -> None:
    """Run the command line."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # waiting threads of GNU OpenMP take no processor time
    gc.set_threshold(10_000)  # the half million objects of modules stay: looking through them is a tenth of a command
    completed = os.environ.get("COMP_WORDS", "").split()[1:]  # a shell asks how such a line may go on
    try:
        application(sys.argv[1:] or completed)()
    except KeyboardInterrupt:  # while the commands are made
        sys.exit(INTERRUPTED)
    except Exception as error:
        if "--debug" in sys.argv or not names_full_memory(error):
            raise
        sys.exit(out_of_memory(error))


def application(arguments: list[str]) -> typer.Typer:
    """The commands for a command line; `headscope STUDY VERB` is one of its own where the study has such a verb."""
    app = typer.Typer(
        name="headscope",
        cls=Commands,
        help=HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(epilog=EXAMPLES)(with_shared(options))
    for run in (survey, claims, reproduce):
        _add_tool(app, run.__name__, run, arguments, EVERYTHING)
    for question, studies in catalog.studies_by_question().items():
        for study in studies:
            _add(app, study, arguments, question)
    tools = {run.__name__: run for run in (report, head, join, export, cite, push, rerun, verify, view)}
    tools = {"list": user_errors(debug=False)(list_catalog)} | tools | {"index": tool("viewer/commands", "index")}
    for name, run in tools.items():
        _add_tool(app, name, run, arguments, TOOLS)
    return app


def _add_tool(app: typer.Typer, name: str, run: Callable[..., Any], arguments: list[str], panel: str) -> None:
    """Add the command of a tool, as `_add` does that of a study."""
    called = with_shared(run) if not arguments or name in arguments else lambda: None
    app.command(name, help=getdoc(run), rich_help_panel=panel)(called)


def _add(app: typer.Typer, study: str, arguments: list[str], panel: str) -> None:
    """Add the command of a study; without options where the line does not name it, for the list of commands alone."""
    summary, name = catalog.summary("studies", study), catalog.command_name(study)
    if arguments and name not in arguments:
        app.command(name, help=summary, rich_help_panel=panel)(lambda: None)
        return
    further = verbs(study)
    if arguments[:1] == [name] and further.keys() & arguments[1:2]:
        group = typer.Typer(help=summary)
        for verb, run in further.items():
            group.command(verb)(run)
        app.add_typer(group, name=name, rich_help_panel=panel)
    else:
        app.command(name, help=summary, epilog=_epilog(study, further), rich_help_panel=panel)(command(study))


def _epilog(study: str, further: Iterable[str]) -> str:
    """The end of the help of a study: an example, and its further commands."""
    name = catalog.command_name(study)
    example = catalog.study(study).example or f"headscope {name} minilm sample -o out"
    also = ", ".join(f"{name} {verb}" for verb in further)
    return f"Example: {example}." + (f" Further commands: {also}." if also else "")


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        typer.echo(f"headscope {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    """Options before a command."""
