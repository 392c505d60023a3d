"""Calls that the threads of a server leave to one other thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from headscope.errors import HeadscopeError

TICK = 0.1  # seconds after which a waiting thread looks whether it is still wanted


class CallQueue:
    """Functions that one thread calls for others, in the order in which they came.

    A model is run by the thread that has loaded it: where two threads use OpenMP, torch's workers sleep between
    operators. The main thread is best, since Ctrl-C ends its calls at once.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns or raises in the thread of `run`."""
        future: Future[Any] = Future()
        self._calls.put((future, partial(function, *arguments)))
        return await asyncio.wrap_future(future)

    def run(self, wanted: Callable[[], bool]) -> None:
        """Run calls in this thread while they are `wanted`."""
        while wanted():
            with suppress(Empty):
                _settle(*self._calls.get(timeout=TICK))

    def refuse(self, wanted: Callable[[], bool]) -> None:
        """Answer calls by an error while somebody may still wait for one."""
        while wanted():
            with suppress(Empty):
                _settle(self._calls.get(timeout=TICK)[0], _refuse)


def _settle(future: "Future[Any]", call: Callable[[], Any]) -> None:
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    except BaseException:  # Ctrl-C: an answer for the caller, and the end of this thread's calls
        future.set_exception(_ended())
        raise


def _refuse() -> None:
    raise _ended()


def _ended() -> HeadscopeError:
    return HeadscopeError("the program was ended")
