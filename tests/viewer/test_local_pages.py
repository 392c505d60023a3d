"""What all local pages share: who is answered, what is read, and the headers of every answer."""

import asyncio
import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from headscope.errors import HeadscopeError
from headscope.viewer.serving import HEADERS, LocalOnly, json_body, serve_locally


async def echo(request: Request) -> Response:
    return JSONResponse(await json_body(request, 100))


async def broken(request: Request) -> Response:
    raise ValueError("no such number")


@pytest.fixture
def client() -> TestClient:
    app = LocalOnly(Starlette(routes=[Route("/echo", echo, methods=["POST"]), Route("/broken", broken)]))
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"index": 1}', 200),
        (b'"' + 200 * b"a" + b'"', 413),
        (b"[1]", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"a": ' + 90 * b"[", 400),
    ],
)
def test_only_a_small_json_object_is_read(client: TestClient, content: bytes, status: int) -> None:
    answer = client.post("/echo", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == status


def test_deep_json_and_long_numbers_are_no_error_of_the_server() -> None:
    async def read(request: Request) -> Response:
        return JSONResponse(sorted(await json_body(request)))

    client = TestClient(Starlette(routes=[Route("/", read, methods=["POST"])]))
    for content in ('{"a": ' + 100_000 * "[" + 100_000 * "]" + "}", json.dumps({"a": 1})[:-1] + 5000 * "0" + "}"):
        assert client.post("/", content=content, headers={"content-type": "application/json"}).status_code == 400


def test_a_query_of_raw_bytes_is_refused() -> None:
    started: list[Any] = []

    async def send(message: Any) -> None:
        started.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    headers = [(b"host", b"127.0.0.1:8000")]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers, "query_string": b"by=\x8f"}
    asyncio.run(LocalOnly(Starlette())(scope, receive, send))
    assert started[0]["status"] == 400


def test_a_client_that_hangs_up_leaves_no_traceback() -> None:
    messages = [{"type": "http.request", "body": b'{"ind', "more_body": True}, {"type": "http.disconnect"}]
    started: list[Any] = []

    async def send(message: Any) -> None:
        started.append(message)

    async def receive() -> Any:
        return messages.pop(0)

    headers = [(b"host", b"127.0.0.1:8000"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b""}
    asyncio.run(Starlette(routes=[Route("/", echo, methods=["POST"])])(scope, receive, send))  # raises nothing
    assert started[0]["status"] == 400


def test_errors_and_refusals_have_the_policy_headers(client: TestClient) -> None:
    for path, status in (("/broken", 500), ("/no-such", 404)):
        answer = client.get(path)
        assert answer.status_code == status
        assert HEADERS.items() <= {name: answer.headers.get(name) for name in HEADERS}.items()
    refused = client.get("/broken", headers={"host": "evil.example"})
    assert refused.status_code == 403
    assert refused.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("port", [-1, 10**6])
def test_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(HeadscopeError, match=f"port {port} cannot be used"):
        serve_locally(Starlette(), port)
