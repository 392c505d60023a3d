"""Attention between the words of many sentences, in half precision: in memory up to a budget, the rest on disk."""

import tempfile
from pathlib import Path
from types import TracebackType

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.errors import HeadscopeError

# Attention from and to [CLS] and [SEP] stands before that of words.
SPECIAL = 2
Map = Float[np.ndarray, "token token head"]


class Store:
    """Keeps maps; once they are more than `budget` bytes, further ones go to a file that is deleted at the end.

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
        self._maps: list[np.ndarray | tuple[int, tuple[int, ...]]] = []

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._maps = []
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._maps)

    def add(self, attention: Map) -> None:
        """Keep one more map.

        Raises `HeadscopeError` if the disk is full.
        """
        halved = np.ascontiguousarray(attention, dtype=np.float16)
        if self.in_memory + halved.nbytes <= self.budget:
            self.in_memory += halved.nbytes
            self._maps.append(halved)
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self.folder)
            self._file.write(halved.data)
        except OSError as error:
            place = self.folder or tempfile.gettempdir()
            raise HeadscopeError(
                f"attention cannot be kept in '{place}': {error.strerror or error}; free space there, or raise --memory"
            ) from error
        self._maps.append((self.on_disk, halved.shape))
        self.on_disk += halved.nbytes

    def open(self) -> list[Float[Tensor, "token token head"]]:
        """All maps, in the order in which they came; those on disk are read when they are used."""
        whole = np.empty(0, dtype=np.float16)
        if self._file is not None:
            self._file.flush()
            whole = np.memmap(self._file, dtype=np.float16, mode="r+")
        return [torch.from_numpy(_placed(each, whole)) for each in self._maps]


def _placed(each: np.ndarray | tuple[int, tuple[int, ...]], whole: np.ndarray) -> np.ndarray:
    if isinstance(each, np.ndarray):
        return each
    start, shape = each[0] // whole.itemsize, each[1]
    return whole[start : start + int(np.prod(shape))].reshape(shape)
