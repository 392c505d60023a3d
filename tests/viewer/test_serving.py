"""Calls that the thread of a server leaves to the thread that has loaded a model."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from threading import Event, get_ident
from urllib.request import urlopen

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headscope.errors import HeadscopeError
from headscope.viewer import serving
from headscope.viewer.serving import CallQueue, _settle, listening, serve_on


def stop() -> None:
    raise KeyboardInterrupt


def fail() -> None:
    raise ValueError("no such layer")


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_calls_of_a_server_run_in_this_thread_until_ctrl_c() -> None:
    calls = CallQueue()

    async def answer(request: Request) -> Response:
        function = {"thread": get_ident, "fail": fail, "stop": stop}[request.path_params["name"]]
        try:
            return Response(str(await calls.call(function)))
        except (ValueError, HeadscopeError) as error:
            return Response(str(error))

    app = Starlette(routes=[Route("/{name}", answer)])
    with listening() as socket, ThreadPoolExecutor(1) as browser:
        address = f"http://127.0.0.1:{socket.getsockname()[1]}/"

        def look() -> list[str]:
            return [urlopen(address + name, timeout=20).read().decode() for name in ("fail", "thread", "stop")]

        looks = browser.submit(look)
        serve_on(app, socket, lambda url: None, calls)  # ends by the last call
        assert looks.result() == ["no such layer", str(get_ident()), "the program was ended"]


def test_calls_after_the_end_are_answered_by_an_error() -> None:
    calls = CallQueue()
    with ThreadPoolExecutor(1) as browser:
        late = browser.submit(asyncio.run, calls.call(get_ident))
        calls.refuse(lambda: not late.done())
    with pytest.raises(HeadscopeError, match="was ended"):
        late.result()


def test_an_answer_that_never_ends_does_not_keep_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "PATIENCE", 1)
    calls, asked = CallQueue(), Event()

    async def wait(request: Request) -> Response:
        asked.set()
        await asyncio.sleep(3600)
        return Response()

    async def end(request: Request) -> Response:
        return Response(str(await calls.call(stop)))

    app = Starlette(routes=[Route("/wait", wait), Route("/end", end)])
    with listening() as socket, ThreadPoolExecutor(2) as browser:
        address = f"http://127.0.0.1:{socket.getsockname()[1]}/"
        waiting = browser.submit(urlopen, f"{address}wait", timeout=60)

        def look() -> None:
            assert asked.wait(20)
            with suppress(OSError, HTTPException):
                urlopen(f"{address}end", timeout=20)

        browser.submit(look)
        serve_on(app, socket, lambda url: None, calls)
        assert isinstance(waiting.exception(timeout=20), OSError | HTTPException)


def test_ctrl_c_while_an_answer_is_handed_over_is_no_error() -> None:
    class Interrupted(Future[int]):
        def set_result(self, result: int) -> None:
            super().set_result(result)
            raise KeyboardInterrupt

    future = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        _settle(future, lambda: 1)
    assert future.result() == 1
