"""A limit to the time of forward passes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from headscope.errors import HeadscopeError


class TimeUp(HeadscopeError):
    """A forward pass that took longer than its limit."""


@contextmanager
def time_limit(network: nn.Module, seconds: float) -> Iterator[None]:
    """Within this context the forward passes of a network end with `TimeUp` once the time is over.

    The time is looked at before each module inside of the network.
    """
    end = time.monotonic() + seconds

    def check(module: nn.Module, args: object) -> None:
        if time.monotonic() > end:
            raise TimeUp(f"the model took longer than {seconds:g} s; use a shorter text, or a smaller corpus")

    # Not the network itself: contexts around a pass are entered in its hooks, and must be left again.
    handles = [module.register_forward_pre_hook(check) for module in network.modules() if module is not network]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
