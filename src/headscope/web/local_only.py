"""A guard that keeps a local server local: only pages of this machine reach it, and its pages reach nothing else."""

from starlette.datastructures import Headers, MutableHeaders
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
