"""An application served by another thread, for tests in a browser."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from headscope.viewer.serving import listening, server_of


@contextmanager
def served_app(app: ASGIApp) -> Iterator[str]:
    """The address of the page while the block runs."""
    with listening(0) as socket:
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{socket.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(timeout=5)
            server.force_exit = True  # a browser may hold a connection open
            thread.join(timeout=5)  # a thread that does not end then ends with the tests
