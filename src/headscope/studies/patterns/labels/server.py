"""The local page on which maps are labelled."""

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from headscope.errors import HeadscopeError
from headscope.studies.patterns.labels.instructions import GUIDE
from headscope.studies.patterns.labels.local_only import Guard
from headscope.studies.patterns.labels.session import Session

STATIC = Path(__file__).parent / "static"
HOST = "127.0.0.1"


def application(session: Session) -> Starlette:
    """The page, the maps and their labels."""

    async def state(request: Request) -> Response:
        return JSONResponse({"guide": GUIDE, "labels": session.labels, "file": session.path.name})

    async def show(request: Request) -> Response:
        map_ = session.maps[_index(request, session)]
        return JSONResponse({"id": map_.id, "tokens": map_.tokens, "classes": map_.classes.tolist()})

    async def values(request: Request) -> Response:
        map_ = session.maps[_index(request, session)]
        return Response(map_.attention.astype("<f4").tobytes(), media_type="application/octet-stream")

    async def label(request: Request) -> Response:
        given = await _json(request)
        try:
            await run_in_threadpool(session.label, int(given["index"]), str(given["label"]))
        except (KeyError, TypeError, ValueError, HeadscopeError) as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse({})

    async def undo(request: Request) -> Response:
        await _json(request)
        return JSONResponse({"index": await run_in_threadpool(session.undo)})

    routes = [
        Route("/state", state),
        Route("/maps/{index:int}", show),
        Route("/maps/{index:int}/values", values),
        Route("/label", label, methods=["POST"]),
        Route("/undo", undo, methods=["POST"]),
        Mount("/", StaticFiles(directory=STATIC, html=True)),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard)])


def serve(session: Session, port: int = 0, say: Callable[[str], None] = print) -> None:
    """Serve the page on this machine alone until Ctrl-C; `port` 0 is any that is free.

    `say` is told the address. Raises `HeadscopeError` if the port is taken.
    """
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
            listening.listen()  # so that the address answers as soon as it is said
        except OSError as error:
            raise HeadscopeError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from error
        server = uvicorn.Server(uvicorn.Config(application(session), log_level="warning"))
        say(f"http://{HOST}:{listening.getsockname()[1]}/  (Ctrl-C ends; labels are saved as they are given)")
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:
            pass  # how it is meant to end


def _index(request: Request, session: Session) -> int:
    index = int(request.path_params["index"])
    if index >= len(session.maps):
        raise HTTPException(404, f"there is no map {index}")
    return index


async def _json(request: Request) -> dict:
    """What was posted; only JSON, which a form of another site cannot send."""
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415, "JSON is expected")
    try:
        given = await request.json()
    except ValueError as error:
        raise HTTPException(400, f"no JSON: {error}") from error
    return given if isinstance(given, dict) else {}
