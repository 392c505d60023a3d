"""A pickle that creates a file when it is read."""

import pickle
from pathlib import Path
from typing import Any


class _Evil:
    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (str(self.path), "w")


def evil(path: Path) -> bytes:
    """Bytes that create the file `path` when they are unpickled.

    >>> import tempfile
    >>> ran = Path(tempfile.mkdtemp()) / "ran"
    >>> pickle.loads(evil(ran)).close(), ran.exists()
    (None, True)
    """
    return pickle.dumps(_Evil(path), protocol=2)  # that of torch
