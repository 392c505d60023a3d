"""In which order files come onto the disk and to their places."""

import os
import stat
from collections.abc import Callable

import pytest


def order_of_calls(write: Callable[[], object], patch: pytest.MonkeyPatch) -> list[str]:
    """The calls of `os.fsync` and `os.replace` while something is written, such as "sync file" or "replace"."""
    calls: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        calls.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        sync(descriptor)

    def replaced(source: str, target: str) -> None:
        calls.append("replace")
        replace(source, target)

    with patch.context() as patched:
        patched.setattr(os, "fsync", synced)
        patched.setattr(os, "replace", replaced)
        write()
    return calls
