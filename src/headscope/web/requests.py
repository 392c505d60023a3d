"""Requests to a server of this machine: only its own pages reach it, and post JSON of bounded size.

These pages reach nothing else.
"""

import json
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
MOST_BYTES = 512 * 1024


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


async def json_body(request: Request, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
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
