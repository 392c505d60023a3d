"""The answers of a session by their paths: those of the server of the page, and those of a kernel to its widget."""

import sys
import traceback
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from headscope.errors import HeadscopeError
from headscope.viewer.export import ExportedFile, exported
from headscope.viewer.loading import TimeUp
from headscope.viewer.session import Missing, ViewSession

Answer = dict[str, Any] | list[Any] | str | bytes | ExportedFile
STATUS: dict[type[HeadscopeError], int] = {Missing: 404, TimeUp: 504}
# The arguments of a method are the parts of the path after its name; those with a default are in the query.
METHODS = {
    "model": "description",
    "overview": "overview",
    "tile": "tile",
    "words": "words",
    "numbers": "numbers",
    "card": "card",
    "panel": "panel",
    "examples": "examples",
    "corpus": "page",
}
# Actions run a model; their arguments are the texts of a JSON object, those of `OPTIONAL` may be null. "try" and
# "importance" also take the number of a model.
ACTIONS = {
    "text": ("first", "second", "against"),
    "try": ("id", "heads", "mode"),
    "importance": ("id", "method"),
    "export": ("id", "state", "format"),
}
OPTIONAL = ("second", "against")


def answer(session: ViewSession, path: str, query: Mapping[str, str]) -> Answer:
    """What is at a path, such as "tile/ID/4/7/0/0/0" with the query {"model": "1"}: JSON, HTML (a text) or bytes.

    Raises `Missing` for a path where nothing is, `HeadscopeError` for text that is no number.
    """
    name, *parts = path.split("/")
    if name not in METHODS:
        raise Missing(f"there is no '{name[:40]}'")
    method = getattr(session, METHODS[name])
    parameters = list(signature(method).parameters.values())
    required = [parameter for parameter in parameters if parameter.default is Parameter.empty]
    if len(required) == 1:
        parts = ["/".join(parts)]  # the name of a corpus may be a path
    if len(parts) != len(required) or not all(parts):
        raise Missing(f"'{name}' has {len(required)} parts after it")
    arguments = dict(zip(required, parts, strict=True)) | {
        parameter: query[parameter.name] for parameter in parameters if parameter.name in query
    }
    return method(**{parameter.name: _value(parameter, text) for parameter, text in arguments.items()})


def act(session: ViewSession, name: str, body: Mapping[str, Any]) -> Answer:
    """The answer to a JSON object: a text as tokens, predictions without some heads, importances, or a file.

    Raises `Missing` for an unknown action, `HeadscopeError` for a value that is no text, and as the action does.
    """
    if name not in ACTIONS:
        raise Missing(f"there is no '{name[:40]}'")
    values: list[Any] = [body.get(argument) for argument in ACTIONS[name]]
    for argument, value in zip(ACTIONS[name], values, strict=True):
        if not (isinstance(value, str) or (value is None and argument in OPTIONAL)):
            raise HeadscopeError(f"{argument} must be a text")
    if name == "export":
        return exported(session, *values)
    if name == "text":
        return session.text(*values)
    model = body.get("model", 0)
    if type(model) is not int:
        raise HeadscopeError("model must be a whole number from 0")
    return (session.importances if name == "importance" else session.try_heads)(*values, model=model)


def reply(session: ViewSession, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The answer to a message of a widget: `{"path": "api/...", "body": object or null}`.

    Returns: `{"content": ...}` or `{"status": number, "error": line}`, and the bytes of an answer of bytes; beside
    those of a file `{"notice": line}`.
    """
    try:
        address = urlsplit(str(request["path"]))
        path = unquote(address.path).removeprefix("api/")
        body = request.get("body")
        content = answer(session, path, dict(parse_qsl(address.query))) if body is None else act(session, path, body)
    except Exception as error:
        status, line = failure(error)
        return {"status": status, "error": line}, []
    if isinstance(content, ExportedFile):
        return {"notice": content.notice}, [content.content]
    return ({}, [content]) if isinstance(content, bytes) else ({"content": content}, [])


def failure(error: Exception) -> tuple[int, str]:
    """The HTTP status and the line of an error; one of a model or of the program is printed, too."""
    if isinstance(error, HeadscopeError):
        status, line = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400), str(error)
    else:  # models raise whatever they like
        traceback.print_exception(error, file=sys.stderr)
        status, line = 500, f"{type(error).__name__}: {error}"
    return status, " ".join(line.split()).encode(errors="backslashreplace").decode()  # names may hold half a character


def _value(parameter: Parameter, text: str) -> str | int:
    """The value of a part of an address: a text, or a whole number from 0."""
    if parameter.annotation is str:
        return text
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HeadscopeError(f"{parameter.name} must be a whole number from 0")
    return int(text)
