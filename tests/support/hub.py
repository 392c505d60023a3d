"""A stand-in of the Hugging Face hub on this machine: data set repositories, as far as headscope asks for them."""

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

WRITE, READ = "may-write", "may-read"


class Hub(ThreadingHTTPServer):
    """The server; `repositories`: the files of each, and `private` those that need a token; `asked`: all requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.private: set[str] = set()
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def hub() -> Iterator[Hub]:
    """Within this context the server runs."""
    with Hub() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@contextmanager
def silent_server() -> Iterator[str]:
    """The address of a server that takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self._note()
        match self._parts():
            case ["api", "datasets", owner, name, *rest] if (files := self._readable(f"{owner}/{name}")) is not None:
                tree = [{"type": "file", "path": path, "size": len(content), "oid": _oid(content)}
                        for path, content in files.items()]  # fmt: skip
                about = {
                    "id": f"{owner}/{name}",
                    "sha": _commit(files),
                    "siblings": [{"rfilename": path} for path in files],
                }
                self._answer(tree if rest[:1] == ["tree"] else about)
            case ["datasets", owner, name, "resolve", _, *path] if (
                files := self._readable(f"{owner}/{name}")
            ) is not None and "/".join(path) in files:
                content = files["/".join(path)]
                self._send(200, content, {"X-Repo-Commit": _commit(files), "ETag": f'"{_oid(content)}"'})
            case ["datasets", owner, name, "resolve", *_] if self._readable(f"{owner}/{name}") is not None:
                self._refuse(404, "EntryNotFound")
            case _:
                self._refuse(404, "RepoNotFound")

    def do_POST(self) -> None:
        self._note()
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("authorization") != f"Bearer {WRITE}":
            return self._refuse(403, "Forbidden")
        match self._parts():
            case ["api", "repos", "create"]:
                made = json.loads(body)
                name = f"{made['organization']}/{made['name']}"
                self.server.repositories.setdefault(name, {})
                if made.get("visibility") == "private":
                    self.server.private.add(name)
                self._answer({"url": f"{self.server.address}/datasets/{name}"})
            case ["api", "validate-yaml"]:
                self._answer({})
            case ["api", "datasets", owner, name, "preupload", _]:
                files = [
                    {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                    for file in json.loads(body)["files"]
                ]
                self._answer({"files": files})
            case ["api", "datasets", owner, name, "commit", _]:
                for line in map(json.loads, body.splitlines()):
                    if line["key"] == "file":
                        content = base64.b64decode(line["value"]["content"])
                        self.server.repositories[f"{owner}/{name}"][line["value"]["path"]] = content
                commit = _commit(self.server.repositories[f"{owner}/{name}"])
                url = f"{self.server.address}/datasets/{owner}/{name}/commit/{commit}"
                self._answer({"commitUrl": url, "commitOid": commit})
            case _:
                self._refuse(404, "RepoNotFound")

    def _note(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")

    def _parts(self) -> list[str]:
        return [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]

    def _readable(self, name: str) -> dict[str, bytes] | None:
        if name in self.server.private and not self.headers.get("authorization"):
            return None
        return self.server.repositories.get(name)

    def _answer(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, b'{"error": "no"}', {"X-Error-Code": code, "Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *_: Any) -> None:
        pass


def _oid(content: bytes) -> str:
    return sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _commit(files: dict[str, bytes]) -> str:
    return sha1(repr(sorted(files.items())).encode()).hexdigest()
