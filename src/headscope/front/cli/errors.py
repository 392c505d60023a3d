"""Turn errors and wrong usage, such as a misspelled option, into one line and an exit status."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from headscope.errors import ClusterLostError, DrawingError, HeadscopeError, nearest
from headscope.front.cli.printing import printable
from headscope.storage.files import names_full_disk, unopened

INCOMPLETE = 1
USER_ERROR = 2
INTERRUPTED = 130
FULL = "no space left on the disk; make room there, or for temporary files name another folder as TMPDIR"
WORDS = "headscope.words"
UsageError: Any = typer.BadParameter.__mro__[1]  # typer has no public name for it


@contextmanager
def on_command_line() -> Iterator[None]:
    """Within this context errors name options of the command line."""
    before, HeadscopeError.names_options = HeadscopeError.names_options, True
    try:
        yield
    finally:
        HeadscopeError.names_options = before


@contextmanager
def user_errors(debug: bool) -> Iterator[None]:
    """Within this context an error that a user can fix ends the program with one line and status 2.

    A full disk is such an error, a path that is too long, and a file that cannot be opened. A page that could not be
    made whole and a lost cluster end the program with status 1.
    """
    try:
        yield
    except HeadscopeError as error:
        if debug:
            raise
        typer.secho(f"headscope: {printable(error)}", err=True, fg=typer.colors.RED)
        raise typer.Exit(INCOMPLETE if isinstance(error, ClusterLostError | DrawingError) else USER_ERROR) from None
    except OSError as error:
        if debug or not (line := _line(error)):
            raise
        typer.secho(f"headscope: {printable(line)}", err=True, fg=typer.colors.RED)
        raise typer.Exit(USER_ERROR) from None
    except KeyboardInterrupt as stop:
        typer.secho(": ".join(["headscope: interrupted", *map(printable, stop.args)]), err=True)
        raise typer.Exit(INTERRUPTED) from None


def out_of_memory(error: Exception) -> int:
    """Print the line for an error without memory; returns the exit status."""
    words = " ".join(str(error).split())[:200] or type(error).__name__
    line = f"no more memory or address space ({words}); free some, raise the limit (ulimit -v), or use a smaller model"
    typer.secho(f"headscope: {printable(line)}", err=True, fg=typer.colors.RED)
    return USER_ERROR


def _line(error: OSError) -> str:
    """The line for an error that a user can mend: a full disk, no path, no file; else an empty one."""
    beginning = f"'{error.filename}' cannot be written: " if error.filename else ""
    return f"{beginning}{FULL}" if names_full_disk(error) else unopened(error)


def notice(line: str) -> None:
    """Print one line on stderr that is no error."""
    typer.secho(f"headscope: {printable(line)}", err=True, fg=typer.colors.YELLOW)


@contextmanager
def numbers_kept(saved: Path, debug: bool) -> Iterator[None]:
    """Within this context, in which a saved result is printed and drawn, any error says where the numbers are."""
    try:
        yield
    except DrawingError:
        raise
    except Exception as error:
        if debug:
            raise
        words = " ".join(str(error).split())
        reason = words if isinstance(error, HeadscopeError) else f"{type(error).__name__}: {words}"
        raise DrawingError(
            f"the numbers are saved in '{saved}', but could not all be shown ({reason}); "
            "'headscope export' writes them as tables, --debug shows the traceback"
        ) from error


class Commands(TyperGroup):
    """The commands; wrong usage is one line on stderr and status 2, where Typer draws a box of five."""

    def main(self, *args: Any, standalone_mode: bool = True, **kwargs: Any) -> Any:
        """Run a command, and end the process unless `standalone_mode` is off."""
        with on_command_line():
            return self._main(*args, standalone_mode=standalone_mode, **kwargs)

    def _main(self, *args: Any, standalone_mode: bool, **kwargs: Any) -> Any:
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **kwargs)
        try:
            sys.exit(super().main(*args, standalone_mode=False, **kwargs))
        except UsageError as error:
            if line := usage_line(error):
                typer.secho(f"headscope: {line}", err=True, fg=typer.colors.RED)
            sys.exit(USER_ERROR)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words of the command line, which are a part of a result's provenance."""
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first argument names."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f"No such command '{args[0]}'{_similar(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def usage_line(error: Any) -> str:
    """The error, the wrong value, a similar name if there is one, and where help is; empty for a bare `headscope`."""
    text, option = error.format_message().rstrip("."), getattr(error, "option_name", "")
    if "No such option" in text:
        options = [
            name for parameter in error.ctx.command.params for name in (*parameter.opts, *parameter.secondary_opts)
        ]
        text = f"no such option '{option}'{_similar(option, options)}"
    elif wrong := getattr(error.__cause__, "errors", None):  # of pydantic
        value, message = repr(wrong()[0]["input"]), wrong()[0]["msg"].rstrip(".")
        message = message.replace(f"Value error, {value} is not", "use").replace("Input should", "it should")
        text = f"option {error.param.opts[0]} {value}: {message}"
    see = f"see '{error.ctx.command_path} --help'" if error.ctx else "see --help"
    return printable(f"{text[0].lower()}{text[1:]}{' ' if text.endswith('?') else '; '}{see}") if text else ""


def _similar(name: str, names: Iterable[str]) -> str:
    near = nearest(name, names)
    return f": did you mean '{near}'?" if near else ""
