"""Progress bars on stderr, or in a notebook: of the inputs of a study, of the figures of a page."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(
    name: str, total: int | None, *, show: bool | None = None, leave: bool = True
) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """A bar with count, rate and time left, which begins once there is a total.

    * `show`: show the bar; None: only in a terminal or a notebook.
    * `leave`: leave the bar on the screen at its end.

    Yields: a function of the number of inputs that are done since its last call, and a function of the total.

    >>> with progress_bar("profile", 3) as (advance, expect):
    ...     advance(2)
    """
    from tqdm.auto import tqdm

    hidden = not (_interactive() if show is None else show)
    bars: list[tqdm] = []

    def advance(done: int) -> None:
        if bars:
            bars[0].update(done)

    def expect(total: int) -> None:
        if bars:
            bars[0].total = total
            bars[0].refresh()
        else:
            bars.append(tqdm(desc=name, total=total, leave=leave, disable=hidden, dynamic_ncols=True))

    if total is not None:
        expect(total)
    try:
        yield advance, expect
    finally:
        for bar in bars:
            bar.close()


def n_inputs(inputs: Mapping[str, Any]) -> int | None:
    """The number of examples in the inputs of a study; None if the study itself counts them."""
    if "corpus" in inputs:
        return inputs["corpus"].n_examples
    if "corpora" in inputs:
        return sum(corpus.n_examples for corpus in inputs["corpora"])
    return inputs["task"].dev.n_examples if inputs.get("task") else None


def _interactive() -> bool:
    """Whether somebody can look at a bar: in a terminal, or in a notebook."""
    ipython = sys.modules.get("IPython")
    return sys.stderr.isatty() or hasattr(ipython.get_ipython() if ipython else None, "kernel")
