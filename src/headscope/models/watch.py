"""What a forward pass is watched with, and when: from its start to its end, and never another model's."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass

from torch import nn

from headscope.models.observer import Observer


@dataclass
class Watch:
    """The observer of forward passes, and how many layers the last one has shown it."""

    observer: Observer
    calls: int = 0


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
