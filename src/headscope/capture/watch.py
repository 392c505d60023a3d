"""The observers and interventions of a forward pass, active from its start to its end and for one model only."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headscope.capture.observer import CPU, Intervention, Observer, RowEntropy


class Enough(Exception):
    """Raised once a forward pass has shown all attention that is read, so that the rest is not computed."""


@dataclass
class PassWatch:
    """An observer of forward passes, or an intervention in them, and how many layers the last one has shown it.

    * `home`: the device of the network's inputs, on which `look` sees all attention, whichever device computes it.
    * `enough`: the number of layers after whose attention `Enough` ends a pass; None for a whole pass.
    """

    look: Observer | Intervention
    changes: bool = False
    home: torch.device = CPU
    calls: int = 0
    enough: int | None = None


Watches = tuple[PassWatch, ...]
_watches: ContextVar[Watches] = ContextVar("watches", default=())


@contextmanager
def watching(watch: PassWatch) -> Iterator[None]:
    """Within this context, which is that of one forward pass, `watch` is one of the `current` ones.

    An observer takes the place of one around it; an intervention joins those around it.
    """
    watch.calls = 0
    around = [outer for outer in _watches.get() if outer.changes or watch.changes]
    token = _watches.set(tuple(sorted([*around, watch], key=lambda entry: not entry.changes)))
    try:
        yield
    finally:
        _watches.reset(token)


def current() -> Watches:
    """The watches of the running forward pass: interventions first, so that observers see their results."""
    return _watches.get()


def change(watches: Watches, attention: Tensor, examples: slice, queries: slice, scores: Tensor) -> Tensor:
    """Apply the interventions to a block; returns the block itself where none changes it."""
    for watch in watches:
        if watch.changes:
            here = attention.to(watch.home)
            changed = _called(watch, here, examples, queries, scores.to(watch.home))
            attention = attention if changed is here else changed.to(attention.device)
    return attention


def show(
    watches: Watches,
    attention: Tensor,
    examples: slice,
    queries: slice,
    entropy: RowEntropy | None,
    heads: slice,
    keys: slice,
) -> None:
    """Show a block to the observer, if there is one; for what follows attention see `Observer`."""
    for watch in watches:
        if not watch.changes:
            here, parts = attention.to(watch.home, torch.float32), (heads, keys) if _takes_ranges(watch) else (heads,)
            _called(watch, here, examples, queries, entropy and _brought(entropy, watch.home), *parts)


def _brought(entropy: RowEntropy, home: torch.device) -> RowEntropy:
    return lambda: entropy().to(home)


def statistics_of(watches: Watches) -> Any:
    """What reads the statistics of fused attention, where the only watch is an observer that wants no map; else None.

    See `fused.statistics.FusedStatistics`.
    """
    return getattr(watches[0].look, "statistics", None) if len(watches) == 1 and not watches[0].changes else None


def by_ranges(watches: Watches) -> bool:
    """True if a block may have some of the keys of a layer, and for observers some of its heads."""
    return all(map(_takes_ranges, watches))


def _takes_ranges(watch: PassWatch) -> bool:
    return getattr(watch.look, "key_ranges", False)


def _called(watch: PassWatch, *block: Any) -> Any:
    return watch.look(watch.calls, *block)


def count(watches: Watches) -> None:
    """Count one more layer.

    Raises `Enough` after the last one that a watch wants.
    """
    for watch in watches:
        watch.calls += 1
    if any(watch.calls == watch.enough for watch in watches):
        raise Enough


@contextmanager
def during_forward(network: nn.Module, around: Callable[[dict], AbstractContextManager]) -> Iterator[None]:
    """Within this context each forward pass of `network` runs inside `around(keyword arguments of the pass)`."""
    running: list[ExitStack] = []

    def enter(module: nn.Module, args: tuple, inputs: dict) -> None:
        running.append(ExitStack())
        running[-1].enter_context(around(inputs))

    def leave(module: nn.Module, args: tuple, inputs: dict, output: object) -> None:
        running.pop().close()

    handles = (
        network.register_forward_pre_hook(enter, with_kwargs=True),
        # First, so that of two nested contexts the inner one is left first.
        network.register_forward_hook(leave, with_kwargs=True, always_call=True, prepend=True),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        while running:  # torch does not call hooks after Ctrl-C
            running.pop().close()
