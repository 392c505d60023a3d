"""Serve an application on this machine until Ctrl-C."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from starlette.types import ASGIApp

from headscope.errors import HeadscopeError
from headscope.web.call_queue import CallQueue

HOST = "127.0.0.1"


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
