"""Serve an application on this machine until Ctrl-C; calls that its threads leave to the main thread."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from headscope.errors import HeadscopeError

HOST = "127.0.0.1"
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


def serve_locally(app: ASGIApp, port: int = 0, on_start: Callable[[str], None] = print) -> None:
    """Serve an application on the loopback address until Ctrl-C.

    * `port`: 0 for any that is free.
    * `on_start`: receives the address once it answers.

    Raises `HeadscopeError` if the port is taken.
    """
    with listening(port) as listener:
        serve_on(app, listener, on_start)


@contextmanager
def listening(port: int = 0) -> Iterator[socket.socket]:
    """A socket that listens on the loopback address; requests wait until an application answers them.

    Raises `HeadscopeError` if the port is taken.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise HeadscopeError(f"port {port} cannot be used: {reason}; choose another with --port") from error
        yield listener


def serve_on(
    app: ASGIApp, listener: socket.socket, on_start: Callable[[str], None] = print, calls: CallQueue | None = None
) -> None:
    """Serve an application on a listening socket until Ctrl-C.

    * `on_start`: receives the address.
    * `calls`: are run by this thread; the server has a thread of its own.
    """
    server, calls = uvicorn.Server(uvicorn.Config(app, log_level="warning")), calls or CallQueue()
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        on_start(f"http://{HOST}:{listener.getsockname()[1]}/")
        calls.run(thread.is_alive)
    except KeyboardInterrupt:  # the way to end it
        server.should_exit = True
        calls.refuse(thread.is_alive)


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
