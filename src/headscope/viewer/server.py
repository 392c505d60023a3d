"""The local page of the viewer: its files, and the data that it requests (`routes`).

Binary answers are little-endian. An overview: uint16 layers, heads and side, float32 maximum[layer, head], uint8
levels[layer, head, side, side]. A tile and the map between words: `tiles.pack`. Errors: `{"error": "one line"}`.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from headscope.storage.limits import LARGEST_BODY, OTHER_BODY
from headscope.viewer.export import MEDIA_TYPES, STATIC, ExportedFile
from headscope.viewer.routes import Answer, act, answer, failure
from headscope.viewer.serving import LocalOnly, json_body
from headscope.viewer.session import ViewSession

NOTICE = "Headscope-Notice"  # header of a file: a line about what it lacks
Endpoint = Callable[[Request], Awaitable[Response]]
Call = Callable[..., Awaitable[Any]]


def application(session: ViewSession, call: Call = run_in_threadpool) -> ASGIApp:
    """The page and its data. Requests that run a model wait for each other, at most as long as one may take."""
    routes = [
        Route("/", _index),
        Route("/api/{path:path}", _answered(_read)),
        Route("/api/{path:path}", _answered(_act), methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC, packages=[("headscope.report", "static")])),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})
    app.state.session, app.state.call, app.state.model_lock = session, call, asyncio.Lock()
    return LocalOnly(app)


async def _index(request: Request) -> Response:
    return HTMLResponse((STATIC / "index.html").read_text(encoding="utf-8"))


async def _read(request: Request) -> Response:
    query = dict(request.query_params)
    return _response(await run_in_threadpool(answer, request.app.state.session, request.path_params["path"], query))


async def _act(request: Request) -> Response:
    name = request.path_params["path"]
    body = await json_body(request, LARGEST_BODY if name == "text" else OTHER_BODY)
    content = await _alone(request, act, request.app.state.session, name, body)
    if not isinstance(content, ExportedFile):
        return _response(content)
    headers = {"Content-Disposition": f'attachment; filename="headscope.{body["format"]}"'}
    headers |= {NOTICE: quote(content.notice)} if content.notice else {}
    return Response(content.content, media_type=MEDIA_TYPES[body["format"]], headers=headers)


async def _alone(request: Request, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Run a function that takes long, after those of other requests."""
    lock: asyncio.Lock = request.app.state.model_lock
    try:
        async with asyncio.timeout(request.app.state.session.seconds):
            await lock.acquire()
    except TimeoutError as error:
        raise HTTPException(503, "the model is busy with other requests; try again") from error
    try:
        return await request.app.state.call(function, *arguments)
    finally:
        lock.release()


def _response(content: Answer) -> Response:
    if isinstance(content, bytes):
        return Response(content, media_type="application/octet-stream")
    return HTMLResponse(content) if isinstance(content, str) else JSONResponse(content)


def _answered(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose errors are answers of one line."""

    async def respond(request: Request) -> Response:
        try:
            return await endpoint(request)
        except HTTPException:
            raise
        except Exception as error:
            return _error(*failure(error))

    return respond


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error(error.status_code, str(error.detail))


def _error(status: int, line: str) -> Response:
    return JSONResponse({"error": line}, status)
