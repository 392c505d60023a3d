"""A spinner on stderr while inputs are loaded."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def loading(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Within this context a spinner, if there is a terminal."""
    console = Console(stderr=True, quiet=quiet)
    with console.status(f"{what} ..."):
        yield
