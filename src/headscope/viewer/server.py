"""The local page of the viewer: its files, and the data that it requests.

Binary answers are little-endian. An overview: uint16 layers, heads and side, float32 maximum[layer, head], uint8
levels[layer, head, side, side]. A tile and the map between words: `tiles.pack`. Errors: `{"error": "one line"}`.
"""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from headscope.errors import HeadscopeError
from headscope.viewer.export import MEDIA_TYPES, exported
from headscope.viewer.session import Missing, ViewSession
from headscope.viewer.time_limit import TimeUp
from headscope.web.json_body import json_body
from headscope.web.local_only import LocalOnly

STATIC = Path(__file__).parent / "static"
MOST_BYTES = 64 * 1024
STATUS: dict[type[HeadscopeError], int] = {Missing: 404, TimeUp: 504}
Value = TypeVar("Value")
Endpoint = Callable[[Request], Awaitable[Response]]


def application(session: ViewSession) -> ASGIApp:
    """The page and its data. Requests that run a model wait for each other, at most as long as one may take."""
    head = "{layer}/{head}"
    routes = [
        Route("/", _index),
        Route("/api/model", _answered(_model)),
        Route("/api/text", _answered(_text), methods=["POST"]),
        Route("/api/overview/{text}", _answered(_overview)),
        Route(f"/api/tile/{{text}}/{head}/{{zoom}}/{{row}}/{{column}}", _answered(_tile)),
        Route(f"/api/words/{{text}}/{head}", _answered(_words)),
        Route("/api/numbers", _answered(_numbers)),
        Route(f"/api/card/{head}", _answered(_card)),
        Route(f"/api/examples/{head}", _answered(_examples)),
        Route("/api/try", _answered(_try), methods=["POST"]),
        Route("/api/export", _answered(_export), methods=["POST"]),
        Route("/api/corpus/{name:path}", _answered(_corpus)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.state.session, app.state.model_lock = session, asyncio.Lock()
    return LocalOnly(app)


def _session(request: Request) -> ViewSession:
    return request.app.state.session


async def _alone(request: Request, function: Callable[..., Value], *arguments: Any) -> Value:
    """Run a function that takes long, after those of other requests."""
    lock: asyncio.Lock = request.app.state.model_lock
    try:
        async with asyncio.timeout(_session(request).seconds):
            await lock.acquire()
    except TimeoutError as error:
        raise HTTPException(503, "the model is busy with other requests; try again") from error
    try:
        return await run_in_threadpool(function, *arguments)
    finally:
        lock.release()


async def _index(request: Request) -> Response:
    return HTMLResponse((STATIC / "index.html").read_text(encoding="utf-8"))


async def _model(request: Request) -> Response:
    return JSONResponse(_session(request).description())


async def _text(request: Request) -> Response:
    posted = await json_body(request)
    first, second = posted.get("first"), posted.get("second")
    if not isinstance(first, str) or not isinstance(second, str | None):
        raise HTTPException(400, "first must be a text, and second a text or null")
    return JSONResponse(await _alone(request, _session(request).text, first, second))


async def _export(request: Request) -> Response:
    posted = await json_body(request)
    text, state, format = (posted.get(name) for name in ("id", "state", "format"))
    if not (isinstance(text, str) and isinstance(state, str) and isinstance(format, str)):
        raise HTTPException(400, "id, state and format must be texts")
    content = await _alone(request, exported, _session(request), text, state, format)
    headers = {"Content-Disposition": f'attachment; filename="headscope.{format}"'}
    return Response(content, media_type=MEDIA_TYPES[format], headers=headers)


async def _overview(request: Request) -> Response:
    return await _bytes(_session(request).overview, request)


async def _tile(request: Request) -> Response:
    return await _bytes(_session(request).tile, request)


async def _words(request: Request) -> Response:
    return await _bytes(_session(request).words, request)


async def _numbers(request: Request) -> Response:
    return JSONResponse(await run_in_threadpool(lambda: _session(request).numbers))


async def _card(request: Request) -> Response:
    return HTMLResponse(await run_in_threadpool(_session(request).card, **_place(request)))


async def _corpus(request: Request) -> Response:
    page = _number(request, "page")
    return JSONResponse(await run_in_threadpool(_session(request).page, request.path_params["name"], page))


async def _examples(request: Request) -> Response:
    by = request.query_params.get("by", "")
    return JSONResponse(await run_in_threadpool(_session(request).examples, **_place(request), by=by))


async def _try(request: Request) -> Response:
    posted = await json_body(request, MOST_BYTES)
    values = [posted.get(name) for name in ("id", "heads", "mode")]
    if not all(isinstance(value, str) for value in values):
        raise HTTPException(400, "id, heads and mode must be texts")
    return JSONResponse(await _alone(request, _session(request).try_heads, *values))


async def _bytes(function: Callable[..., bytes], request: Request) -> Response:
    """The bytes that a function makes for the values of a path and the model of the query."""
    content = await run_in_threadpool(function, **_place(request), model=_number(request, "model"))
    return Response(content, media_type="application/octet-stream")


def _place(request: Request) -> dict[str, Any]:
    """The values of a path: the identifier of a text, and whole numbers."""
    return {name: each if name == "text" else _whole(name, each) for name, each in request.path_params.items()}


def _number(request: Request, name: str) -> int:
    """A whole number of the query, by default 0."""
    return _whole(name, request.query_params.get(name, "0"))


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(400, f"{name} must be a whole number from 0")
    return int(text)


def _answered(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose errors are answers of one line; an error of a model or of the program is printed, too."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except HTTPException:
            raise
        except HeadscopeError as error:
            status = next((each for kind, each in STATUS.items() if isinstance(error, kind)), 400)
            return _error(status, str(error))
        except Exception as error:  # models raise whatever they like
            traceback.print_exc(file=sys.stderr)
            return _error(500, f"{type(error).__name__}: {error}")

    return answer


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, str(error.detail))


def _error(status: int, line: str) -> Response:
    one_line = " ".join(line.split()).encode(errors="backslashreplace").decode()  # names may hold half a character
    return JSONResponse({"error": one_line}, status)
