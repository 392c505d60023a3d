"""Records as messages: a checksum, JSON, and behind it the content of arrays as it is. Nothing is pickled."""

import json
from hashlib import sha256
from typing import Any

from headscope.storage.lines import Record

CHECKSUM, LENGTH = 32, 8  # bytes
PLACE = "start and end of bytes"


def message_of(record: Record) -> bytes:
    """A record whose arrays are as of `storage.codec.encode`.

    >>> record_of(message_of({"value": [1, "a"]}))
    {'value': [1, 'a']}
    """
    contents, end = list[bytes](), 0

    def place(value: Any) -> dict[str, list[int]]:
        nonlocal end
        if not isinstance(value, bytes):
            raise TypeError(f"a {type(value).__name__} is no part of a message")
        contents.append(value)
        end += len(value)
        return {PLACE: [end - len(value), end]}

    text, checksum = json.dumps(record, default=place).encode(), sha256()
    parts = [len(text).to_bytes(LENGTH), text, *contents]
    for part in parts:
        checksum.update(part)
    return b"".join([checksum.digest(), *parts])


def record_of(message: bytes) -> Record | None:
    """The record of a message; None for a damaged one."""
    view = memoryview(message)
    if len(view) < CHECKSUM + LENGTH or sha256(view[CHECKSUM:]).digest() != view[:CHECKSUM]:
        return None
    start = CHECKSUM + LENGTH
    end = start + int.from_bytes(view[CHECKSUM:start])
    contents = view[end:]

    def placed(value: dict[str, Any]) -> Any:
        return contents[slice(*value[PLACE])] if value.keys() == {PLACE} else value

    try:
        record = json.loads(bytes(view[start:end]), object_hook=placed)
    except (ValueError, RecursionError, TypeError):
        return None
    return record if isinstance(record, dict) else None
