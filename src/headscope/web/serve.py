"""Serve an application on this machine until Ctrl-C."""

import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp

from headscope.errors import HeadscopeError

HOST = "127.0.0.1"


def serve_locally(app: ASGIApp, port: int = 0, on_start: Callable[[str], None] = print) -> None:
    """Serve an application on the loopback address until Ctrl-C.

    * `port`: 0 for any that is free.
    * `on_start`: receives the address once it answers.

    Raises `HeadscopeError` if the port is taken.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # the address answers from here on
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise HeadscopeError(f"port {port} cannot be used: {reason}; choose another with --port") from error
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        on_start(f"http://{HOST}:{listening.getsockname()[1]}/")
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            pass  # the way to end it
