"""From errors to one line and an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from headscope.errors import ClusterLostError, DrawingError, HeadscopeError
from headscope.front.cli.printing import printable
from headscope.storage.files import names_full_disk, unopened

INCOMPLETE = 1
USER_ERROR = 2
INTERRUPTED = 130
FULL = "no space left on the disk; make room there, or for temporary files name another folder as TMPDIR"


@contextmanager
def user_errors(debug: bool) -> Iterator[None]:
    """Within this context an error that a user can mend ends the program with one line and status 2.

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
    """The line for an error that a user can mend: a full disk, a text in the place of a path, or a file that cannot
    be opened; else an empty one."""
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
