"""Progress on stderr: of loading, of the pass, of the figures."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))


@contextmanager
def loading(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Within this context a spinner, if there is a terminal."""
    console = Console(stderr=True, quiet=quiet)
    with console.status(f"{what} ..."):
        yield


@contextmanager
def progress_bar(
    name: str, total: int | None, *, quiet: bool = False, rate: bool = True
) -> Iterator[tuple[Callable[[int], None], Callable[[int | None], None]]]:
    """A bar with count, rate and time left, shown once there is a total, which may be None while it is unknown.

    Yields: a function of a number of inputs that are done, and a function of the total.
    """
    progress = Progress(*COLUMNS, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True, quiet=quiet))
    task = progress.add_task(name, total=total, rate="")

    def advance(done: int) -> None:
        progress.advance(task, done)
        speed = progress.tasks[0].speed
        progress.update(task, rate=f"{speed:.0f}/s" if speed and rate else "")

    def expect(total: int | None) -> None:
        progress.start()
        progress.update(task, total=total)

    if total is not None:
        progress.start()
    try:
        yield advance, expect
    finally:
        if progress.live.is_started:
            progress.stop()
