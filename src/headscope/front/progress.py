"""Progress on stderr, or in a notebook: bars, lines in a pipe, a spinner, and the durations of phases."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

# Called with the name of a phase, the number of inputs that are done, and their total; None: not known yet.
OnProgress = Callable[[str, int, int | None], None]
# Seconds between the lines of a phase in a pipe; a phase that is shorter has none.
SECONDS = 10.0
RECENT = 5  # lines, whose rate tells the time that is left


@contextmanager
def progress_bar(
    name: str, total: int | None, *, show: bool | OnProgress | None = None, leave: bool = True
) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """A bar with count, rate and time left, which begins once there is a total.

    * `show`: show the bar; None: only in a terminal or a notebook; a function is called in the place of a bar.
    * `leave`: leave the bar on the screen at its end.

    Yields: a function of the number of inputs that are done since its last call, and a function of the total.

    >>> with progress_bar("profile", 3) as (advance, expect):
    ...     advance(2)
    >>> with progress_bar("profile", 3, show=print) as (advance, expect):
    ...     advance(2)
    profile 0 3
    profile 2 3
    """
    show = interactive() if show is None else show
    phase = _Bar(name, leave) if show is True else _Reported(name, show or (lambda *_: None))
    if total is not None:
        phase.expect(total)
    try:
        yield phase.advance, phase.expect
    finally:
        phase.close()


@contextmanager
def drawing_bar(name: str, *, show: bool | OnProgress | None) -> Iterator[Callable[[int, int], None]]:
    """Show a bar of drawn figures. Yields: a function of the number drawn and of the total."""
    with progress_bar(name, None, show=show) as (advance, expect):

        def on_figure(done: int, total: int) -> None:
            if done == 1:
                expect(total)
            advance(1)

        yield on_figure


class _Bar:
    """A bar of tqdm, which is imported and drawn once there is a total."""

    def __init__(self, name: str, leave: bool):
        self.options, self.bar = {"desc": name, "leave": leave, "dynamic_ncols": True}, None

    def advance(self, done: int) -> None:
        if self.bar is not None:
            self.bar.update(done)

    def expect(self, total: int) -> None:
        from tqdm.auto import tqdm

        if self.bar is None:
            self.bar = tqdm(total=total, **self.options)
        else:
            self.bar.total = total
            self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


class _Reported:
    """A phase of work that reports its progress to a function."""

    def __init__(self, name: str, tell: OnProgress):
        self.name, self.tell, self.done = name, tell, 0
        self.total: int | None = None

    def advance(self, done: int) -> None:
        self.done += done
        self.tell(self.name, self.done, self.total)

    def expect(self, total: int) -> None:
        self.total = total
        self.tell(self.name, self.done, total)

    def close(self) -> None:
        pass


class Lines:
    """Lines of progress, at most one in `SECONDS`, with the time that is left at the rate of the last lines.

    Inputs of a study are of several kinds, and the first ones may be the short ones.

    >>> lines = Lines(print, seconds=0)
    >>> lines("profile", 0, 200)
    >>> lines("profile", 50, None)
    profile: 50
    >>> lines("profile", 60, 1)
    profile: 60
    """

    def __init__(self, say: Callable[[str], None], seconds: float = SECONDS):
        self.say, self.seconds, self.phase = say, seconds, ""
        self.said, self.lines = 0.0, deque[tuple[float, int]](maxlen=RECENT)

    def __call__(self, phase: str, done: int, total: int | None) -> None:
        """Take note of progress; say it if the last line is long enough ago."""
        now = time.monotonic()
        if phase != self.phase:
            self.phase, self.said = phase, now
            self.lines = deque([(now, 0)], RECENT)
        if done and now - self.said >= self.seconds:
            self.said = now
            before, first = self.lines[0]
            self.lines.append((now, done))
            left = ""
            if total is not None and done <= total:  # else it is that of another phase
                left = f" of {total:,}"
                if first < done < total:
                    left += f", {duration((now - before) * (total - done) / (done - first))} left"
            self.say(f"{phase}: {done:,}{left}")


def duration(seconds: float) -> str:
    """Seconds in words.

    >>> duration(9.2), duration(80), duration(7300)
    ('9 s', '1 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


@contextmanager
def above_bars() -> Iterator[None]:
    """Within this context a line on stderr stands above the bars of a terminal, if there are any."""
    if "tqdm" not in sys.modules:
        yield
        return
    from tqdm import tqdm

    with tqdm.external_write_mode(file=sys.stderr):
        yield


@contextmanager
def loading(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Within this context a spinner, if there is a terminal."""
    from rich.console import Console

    with Console(stderr=True, quiet=quiet).status(f"{what} ..."):
        yield


def n_inputs(inputs: Mapping[str, Any]) -> int | None:
    """The number of examples in the inputs of a study; None if the study itself counts them."""
    if "corpus" in inputs:
        return inputs["corpus"].n_examples
    if "corpora" in inputs:
        return sum(corpus.n_examples for corpus in inputs["corpora"])
    return inputs["task"].dev.n_examples if inputs.get("task") else None


def interactive() -> bool:
    """Whether somebody can look at a bar: in a terminal, or in a notebook."""
    ipython = sys.modules.get("IPython")
    return sys.stderr.isatty() or hasattr(ipython.get_ipython() if ipython else None, "kernel")


def timed(run: Callable[..., Any], **arguments: Any) -> Any:
    """The result of a study with its seconds, at least those of its passes: a resumed run has some from before.

    Loading the model and drawing the page are not counted.
    """
    began = time.monotonic()
    result = run(**arguments)
    passes = float(result.attrs.get("duration_s", 0))
    return result.assign_attrs(duration_s=round(max(time.monotonic() - began, passes), 3))


class Clock:
    """Seconds that each phase of a command takes.

    >>> clock = Clock()
    >>> clock.stop("loading")
    >>> clock.stop("profile")
    >>> str(clock)
    '0.0 s: loading 0.0, profile 0.0'
    """

    def __init__(self) -> None:
        self.last, self.seconds = time.monotonic(), dict[str, float]()

    def stop(self, phase: str) -> None:
        """End a phase; the next one begins."""
        now = time.monotonic()
        self.seconds[phase], self.last = now - self.last, now

    def __str__(self) -> str:
        phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in self.seconds.items())
        return f"{sum(self.seconds.values()):.1f} s: {phases}"
