"""Tables of equal shape in half precision: in memory up to a budget, the others in a file that is then deleted."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from jaxtyping import Float16

from headscope.errors import HeadscopeError


@contextmanager
def half_precision_tables(
    number: int, shape: tuple[int, ...], budget: int, folder: Path | None = None
) -> Iterator[list[Float16[np.ndarray, "*shape"]]]:
    """Tables of zeros while the context lasts; up to `budget` bytes of them are in memory.

    * `folder`: where the file is made; by default that of temporary files.

    Raises `HeadscopeError` if the disk is full.

    >>> with half_precision_tables(3, (2, 4), budget=40) as tables:
    ...     [type(table).__name__ for table in tables]
    ['ndarray', 'ndarray', 'memmap']
    """
    size = int(np.prod(shape)) * 2
    inside = min(number, budget // size) if size else number
    tables = [np.zeros(shape, dtype=np.float16) for _ in range(inside)]
    if inside == number:
        yield tables
        return
    with tempfile.TemporaryFile(dir=folder) as file:
        with _refusing_full_disk(folder):
            # All is written now: on a full disk, a page that is first written later would end the process.
            for _ in range(number - inside):
                file.write(bytes(size))
            file.flush()
        whole = np.memmap(file, dtype=np.float16, mode="r+", shape=(number - inside, *shape))
        yield tables + [whole[place] for place in range(number - inside)]


@contextmanager
def _refusing_full_disk(folder: Path | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = folder or tempfile.gettempdir()
        raise HeadscopeError(
            f"vectors cannot be kept in '{place}': {error.strerror or error}; free space there, or raise --memory"
        ) from error
