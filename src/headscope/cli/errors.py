"""From errors to one line and an exit status."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from headscope.errors import HeadscopeError

MENDABLE = 2
INTERRUPTED = 130


@contextmanager
def mended(debug: bool) -> Iterator[None]:
    """Within this context an error that a user can mend ends the program with one line and status 2."""
    try:
        yield
    except HeadscopeError as error:
        if debug:
            raise
        typer.secho(f"headscope: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(MENDABLE) from None
    except KeyboardInterrupt as stop:
        typer.secho(": ".join(["headscope: interrupted", *map(str, stop.args)]), err=True)
        raise typer.Exit(INTERRUPTED) from None
