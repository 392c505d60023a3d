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
from headscope.results.vocabulary import PATTERNS
from headscope.viewer.serving import LocalOnly, json_body, serve_locally
from pattern_workshop.annotators import Session

# In the order of the keys 1 to 5. A picture is scaled to its own maximum.
GUIDE = dict(
    zip(
        PATTERNS,
        (
            "The visible attention is in one or a few columns (usually [CLS], [SEP], punctuation) shared by most rows; "
            "no clear diagonal.",
            "The visible attention lies along the main diagonal or a line or band parallel and close to it; no strong "
            "column through most rows.",
            "Both a clear column through most rows and a diagonal that could be traced with a finger.",
            "Attention spread more or less evenly inside square blocks that follow the segments, or over the whole "
            "sequence, without columns or diagonals standing out.",
            "None of these; also stripes far from the main diagonal (tokens that occur in both sentences).",
        ),
        strict=True,
    )
)


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
        posted = await json_body(request)
        index, pattern = posted.get("index"), posted.get("label")
        if type(index) is not int or not isinstance(pattern, str):  # True is an int, too
            raise HTTPException(400, "index must be a whole number, and label a text")
        try:
            await run_in_threadpool(session.label, index, pattern)
        except HeadscopeError as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse({})

    async def undo(request: Request) -> Response:
        await json_body(request)
        return JSONResponse({"index": await run_in_threadpool(session.undo)})

    routes = [
        Route("/state", state),
        Route("/maps/{index}", show),
        Route("/maps/{index}/values", values),
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
    number = request.path_params["index"]
    if number not in map(str, range(len(session.maps))):
        raise HTTPException(404, f"there is no map {number[:20]!r}")
    return int(number)
