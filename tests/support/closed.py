"""Files that may not be read, also where root runs the tests: root's right to read everything is laid down for a while.

>>> import tempfile
>>> file = Path(tempfile.mkdtemp()) / "closed"
>>> with closed(file.parent):
...     file.exists()
Traceback (most recent call last):
PermissionError: ...
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

VERSION = 0x20080522  # of two words for each set
OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Word(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@contextmanager
def without_override() -> Iterator[None]:
    """Within this context the permissions of files bind this thread, and those that it starts, also for root."""
    if os.geteuid():
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root may read everything")
    libc, header, words = ctypes.CDLL(None, use_errno=True), _Header(VERSION, 0), (_Word * 2)()
    _check(libc.capget(ctypes.byref(header), words))
    before = words[0].effective
    words[0].effective = before & ~OVERRIDE
    _check(libc.capset(ctypes.byref(header), words))
    try:
        yield
    finally:
        words[0].effective = before
        _check(libc.capset(ctypes.byref(header), words))


@contextmanager
def closed(path: Path, mode: int = 0) -> Iterator[None]:
    """Within this context a file or folder has this mode, by default no permission at all, and root no right beyond."""
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        with without_override():
            yield
    finally:
        path.chmod(before)


def _check(status: int) -> None:
    if status:
        raise OSError(ctypes.get_errno(), "the capabilities of this thread cannot be changed")
