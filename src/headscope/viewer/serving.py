"""Serve an application on this machine until Ctrl-C; calls that its threads leave to the main thread.

Only its own pages reach it, and post JSON of bounded size; these pages reach nothing else.
"""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headscope.errors import HeadscopeError
from headscope.storage.limits import LARGEST_BODY

HOST = "127.0.0.1"
PATIENCE = 3  # seconds that a browser has to take an answer once the server ends; it may keep a connection for ever
TICK = 0.1  # seconds after which a waiting thread looks whether it is still wanted
LOCAL = ("127.0.0.1", "localhost")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


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


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server that, once it is to end, waits for open connections for `PATIENCE` seconds."""
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=PATIENCE))


def serve_on(
    app: ASGIApp, listener: socket.socket, on_start: Callable[[str], None] = print, calls: CallQueue | None = None
) -> None:
    """Serve an application on a listening socket until Ctrl-C.

    * `on_start`: receives the address.
    * `calls`: are run by this thread; the server has a thread of its own.
    """
    server, calls = server_of(app), calls or CallQueue()
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
        if not future.done():  # it came while the answer was handed over
            future.set_exception(_ended())
        raise


def _refuse() -> None:
    raise _ended()


def _ended() -> HeadscopeError:
    return HeadscopeError("the program was ended")


class LocalOnly:
    """Refuse requests that a page of another site may have sent: with another name of this machine, or of its own.

    It wraps a whole application, so that every answer has `HEADERS`, those to errors too.
    """

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 or 400, or pass the request on; add `HEADERS` to the answer."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        local = host.partition(":")[0] in LOCAL and origin in (None, f"http://{host}")
        answer = self.app if local else PlainTextResponse("only pages of this machine are answered\n", 403)
        if not scope.get("query_string", b"").isascii():
            answer = PlainTextResponse("bytes of a query beyond ASCII are written as %XX\n", 400)
        await answer(scope, receive, guarded)


async def json_body(request: Request, most_bytes: int = LARGEST_BODY) -> dict[str, Any]:
    """Read the JSON object of a request, at most `most_bytes` of it.

    Only the content type of JSON is read, which a form of another site cannot send.
    Raises `HTTPException` 415 for another content type, 413 for a larger body, 400 for no JSON object or a client that
    hangs up.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "JSON is expected; send content-type: application/json")
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > most_bytes:
                raise HTTPException(413, f"the request is larger than {most_bytes:,} bytes; send less")
    except ClientDisconnect as error:  # nobody reads the answer; else the log would have a traceback
        raise HTTPException(400, "the request ended too early") from error
    try:
        value = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # deep nesting, numbers of thousands of digits, wrong bytes
        raise HTTPException(400, "the request is not JSON") from error
    if not isinstance(value, dict):
        raise HTTPException(400, "the request is not a JSON object")
    return value
