"""The header of a GGUF file: what it states of its model, and where its weights lie, each within the file.

The format is that of ggml, versions 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import mmap
import struct
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

from headscope.catalog import require
from headscope.errors import HeadscopeError
from headscope.models.weights import StoredWeight
from headscope.storage.hashes import stamps_of
from headscope.storage.limits import MOST_ENTRIES, MOST_SIDES

SUFFIX = ".gguf"
# The types of values by their numbers, as `struct` names them; texts and lists are read in another way.
TYPES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
ALIGNMENT = 32


@dataclass(frozen=True)
class GGUFFile:
    """The header of a file: the shape, in torch's order, and the first byte of each weight.

    * `stated`: the value of each key; of a list of texts, or of more than `MOST_ENTRIES` numbers, its length.
    """

    path: Path
    stated: dict[str, Any]
    weights: dict[str, StoredWeight]
    starts: dict[str, int]

    @property
    def quantisation(self) -> str:
        """The file's type by name, and the types of its weights with their counts, the most frequent first."""
        types = [weight.dtype for weight in self.weights.values()]
        counts = sorted({(-types.count(name), name) for name in types})
        number = self.stated.get("general.file_type")
        names = [kind.name.removeprefix("MOSTLY_") for kind in require("gguf").LlamaFileType if kind == number]
        name = names[0] if names else "unnamed"
        return f"{name}: {', '.join(f'{-count} weights {kind}' for count, kind in counts)}"


def gguf_file(path: Path, name: str) -> GGUFFile:
    """Read the header of a GGUF file.

    Raises `HeadscopeError` if the extra `gguf` is not installed, or the file is cut or is none.
    """
    require("gguf")
    try:
        return _read(path, stamps_of([str(path)]))
    except (ValueError, struct.error, OverflowError, KeyError) as error:
        raise HeadscopeError(
            f"model '{name}' is not a complete GGUF file of version 2 or 3 ({error}); download it again"
        ) from error


@lru_cache(maxsize=8)
def _read(path: Path, stamps: object) -> GGUFFile:
    types: Any = require("gguf")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        reader = _Reader(content)
        magic, version, weights, keys = reader.numbers("4sIQQ")
        if magic != b"GGUF" or version not in (2, 3) or max(weights, keys) > MOST_ENTRIES:
            raise ValueError("of its first bytes")
        stated = {reader.text(): reader.value() for _ in range(keys)}
        table = {reader.text(): reader.weight() for _ in range(weights)}
        alignment = stated.get("general.alignment", ALIGNMENT)
        if len(stated) < keys or len(table) < weights or not isinstance(alignment, int) or alignment < 1:
            raise ValueError("of its keys")
        start, length = -(-reader.at // alignment) * alignment, len(content)
    stored, starts = {}, {}
    for weight, (shape, kind, offset) in table.items():
        quantised = types.GGMLQuantizationType(kind)
        block, width = types.GGML_QUANT_SIZES[quantised]
        if not 1 <= len(shape) <= MOST_SIDES or 0 in shape or shape[-1] % block:
            raise ValueError(f"the shape of {weight[:60]}")
        if start + offset + prod(shape) // block * width > length:
            raise ValueError(f"{weight[:60]} ends beyond it")
        stored[weight], starts[weight] = StoredWeight(quantised.name, shape), start + offset
    return GGUFFile(path, stated, stored, starts)


class _Reader:
    """Reads values from the first byte on; `struct.error` where the content ends."""

    def __init__(self, content: mmap.mmap):
        self.content, self.at = content, 0

    def numbers(self, types: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{types}", self.content, self.at)
        self.at += struct.calcsize(f"<{types}")
        return values

    def text(self) -> str:
        return self.numbers(f"{self.numbers('Q')[0]}s")[0].decode()

    def weight(self) -> tuple[tuple[int, ...], int, int]:
        """The shape, which is stored from the last side on, the number of its type, and its place."""
        shape = self.numbers(f"{min(self.numbers('I')[0], MOST_SIDES + 1)}Q")
        return (shape[::-1], *self.numbers("IQ"))

    def value(self) -> Any:
        kind = self.numbers("I")[0]
        if kind == TEXT:
            return self.text()
        if kind != LIST:
            return self.numbers(TYPES[kind])[0]
        inner, count = self.numbers("IQ")
        if inner == TEXT:
            for _ in range(count):
                self.numbers(f"{self.numbers('Q')[0]}x")
            return count
        values = f"{count}{TYPES[inner]}"
        if count > MOST_ENTRIES:
            self.at += struct.calcsize(f"<{values}")
            return count
        return list(self.numbers(values))
