"""The JSON object that a page posts."""

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

MOST_BYTES = 512 * 1024


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
