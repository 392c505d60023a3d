"""The local page on which maps are labelled."""

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from headscope.errors import HeadscopeError
from headscope.studies.patterns.labels.instructions import GUIDE
from headscope.studies.patterns.labels.session import Session
from headscope.web.json_body import json_body
from headscope.web.local_only import LocalOnly
from headscope.web.serve import serve_locally

STATIC = Path(__file__).parent / "static"


def application(session: Session) -> ASGIApp:
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
        given = await json_body(request)
        try:
            await run_in_threadpool(session.label, int(given["index"]), str(given["label"]))
        except (KeyError, TypeError, ValueError, HeadscopeError) as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse({})

    async def undo(request: Request) -> Response:
        await json_body(request)
        return JSONResponse({"index": await run_in_threadpool(session.undo)})

    routes = [
        Route("/state", state),
        Route("/maps/{index:int}", show),
        Route("/maps/{index:int}/values", values),
        Route("/label", label, methods=["POST"]),
        Route("/undo", undo, methods=["POST"]),
        Mount("/", StaticFiles(directory=STATIC, html=True)),
    ]
    return LocalOnly(Starlette(routes=routes))


def serve(session: Session, port: int = 0, say: Callable[[str], None] = print) -> None:
    """Serve the page on this machine alone until Ctrl-C; `port` 0 is any that is free.

    `say` receives a line with the address. Raises `HeadscopeError` if the port is taken.
    """
    serve_locally(
        application(session), port, lambda url: say(f"{url}  (Ctrl-C ends; labels are saved as they are given)")
    )


def _index(request: Request, session: Session) -> int:
    index = int(request.path_params["index"])
    if index >= len(session.maps):
        raise HTTPException(404, f"there is no map {index}")
    return index
