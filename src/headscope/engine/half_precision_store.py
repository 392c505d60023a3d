"""Arrays of many sentences (attention, hidden states) in half precision: in memory up to a budget, the rest on disk."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.errors import HeadscopeError


class Store:
    """Keeps arrays; once they are more than `budget` bytes, further ones go to a file that is deleted at the end.

    Use it as a context manager. `folder`: where the file is made; by default that of temporary files.

    >>> with Store(budget=10**6) as store:
    ...     store.add(np.eye(2)[..., None])
    ...     store.open()[0].shape, store.in_memory, store.on_disk
    (torch.Size([2, 2, 1]), 8, 0)
    """

    def __init__(self, budget: int, folder: Path | None = None):
        self.budget, self.folder = budget, folder
        self.in_memory, self.on_disk = 0, 0
        self._file = None
        self._arrays: list[np.ndarray | tuple[int, tuple[int, ...]]] = []

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._arrays = []
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._arrays)

    def add(self, array: Float[np.ndarray, "*dims"]) -> None:
        """Keep one more array.

        Raises `HeadscopeError` if the disk is full.
        """
        halved = np.ascontiguousarray(array, dtype=np.float16)
        if self.in_memory + halved.nbytes <= self.budget:
            self.in_memory += halved.nbytes
            self._arrays.append(halved)
            return
        with refusing_full_disk(self.folder):
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self.folder)
            self._file.write(halved.data)
        self._arrays.append((self.on_disk, halved.shape))
        self.on_disk += halved.nbytes

    def open(self) -> list[Float[Tensor, "*dims"]]:
        """All arrays, in the order in which they came; those on disk are read when they are used."""
        whole = np.empty(0, dtype=np.float16)
        if self._file is not None:
            self._file.flush()
            whole = np.memmap(self._file, dtype=np.float16, mode="r+")
        return [torch.from_numpy(_placed(each, whole)) for each in self._arrays]


@contextmanager
def refusing_full_disk(folder: Path | None) -> Iterator[None]:
    """Raise `HeadscopeError` where the file of a folder (None: that of temporary files) cannot be written."""
    try:
        yield
    except OSError as error:
        place = folder or tempfile.gettempdir()
        raise HeadscopeError(
            f"sentences cannot be kept in '{place}': {error.strerror or error}; free space there, or raise --memory"
        ) from error


def _placed(each: np.ndarray | tuple[int, tuple[int, ...]], whole: np.ndarray) -> np.ndarray:
    if isinstance(each, np.ndarray):
        return each
    start, shape = each[0] // whole.itemsize, each[1]
    return whole[start : start + int(np.prod(shape))].reshape(shape)
