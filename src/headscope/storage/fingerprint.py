"""Fingerprints of runs: what their numbers depend on, by name."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

Fingerprint = dict[str, str | int]
CHARACTERS = 16


def hash_of(parts: Iterable[bytes]) -> str:
    """The first characters of the SHA-256 of some bytes."""
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:CHARACTERS]


def difference(before: dict[str, Any], now: Fingerprint) -> str:
    """The first part in which two fingerprints differ, as "seed 0, now it is 1"; "" if they are equal."""
    for name in dict.fromkeys((*now, *before)):
        if before.get(name) != now.get(name):
            return f"{name} {before.get(name)}, now it is {now.get(name)}"
    return ""
