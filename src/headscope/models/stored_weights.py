"""Names, types and shapes of the weights in safetensors files, from their headers alone."""

from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import NamedTuple


class StoredWeight(NamedTuple):
    """A weight in a file.

    * `dtype`: as safetensors names it, such as F32.
    """

    dtype: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


def stored_weights(paths: Iterable[Path]) -> dict[str, StoredWeight]:
    """The weights in files, by name.

    Raises `safetensors.SafetensorError` if a file is cut, or its header is none.
    """
    from safetensors import safe_open  # here, since to find the files of a model needs no library

    weights = {}
    for path in paths:
        path.open("rb").close()  # of a file that may not be read safetensors says that there is none
        with safe_open(path, "np") as file:
            for name in file.keys():
                part = file.get_slice(name)
                weights[name] = StoredWeight(part.get_dtype(), tuple(part.get_shape()))
    return weights
