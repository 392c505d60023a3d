"""Files of arrays in half precision, one for each shard, in the folder of the process that computes from them.

Workers on this machine write there themselves; one elsewhere sends its file piece by piece.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from typing import Generic, Protocol, TypeVar
from uuid import uuid4

import numpy as np
from jaxtyping import Float

from headscope.cluster.channel import TaskChannel
from headscope.encoding.encoded import Encoded
from headscope.errors import HeadscopeError
from headscope.storage.files import remove, writing
from headscope.storage.lines import Record, write

Value = TypeVar("Value")
# The observation of a batch, and the arrays that go with it.
Observed = tuple[Value, Sequence[Float[np.ndarray, "*dims"]]]
Observe = Callable[[list[Encoded]], Observed[Value]]
UNFINISHED = "unfinished-"
BYTES = 2  # of a number
PIECE = 1 << 24  # bytes of a message, so that few of them wait in memory


@dataclass(frozen=True)
class KeptShard(Generic[Value]):
    """The observations of the batches of a shard, and the file of their arrays.

    * `shapes`: of the arrays; `name`, `sha256`: of the file.
    """

    observations: Value
    shapes: list[tuple[int, ...]]
    name: str
    sha256: str

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return BYTES * sum(map(prod, self.shapes))


@dataclass(frozen=True)
class ArrayFiles(Generic[Value]):
    """The files of a pass in a folder; see `StateFiles`."""

    observe: Observe[Value]
    folder: Path

    def clear(self) -> None:
        """Remove what a process left that was killed."""
        for left in self.folder.glob(f"{UNFINISHED}*"):
            remove(left)

    def here(self) -> "_ShardArrays[Value]":
        """The accumulator of a shard, which writes to the folder."""
        return _ShardArrays(self.observe, _File(self.folder, uuid4().hex))

    def sending(self, channel: TaskChannel) -> "_ShardArrays[Value]":
        """See `StateFiles`."""
        return _ShardArrays(self.observe, _SentFile(channel))

    def receive(self, task: int, piece: Record) -> None:
        """See `StateFiles`."""
        file = _File(self.folder, str(task))
        if "content" in piece:
            file.write(piece["start"], piece["content"])
        elif file.finish(piece["first"], piece["size"]) != piece["sha256"]:
            path = self.folder / str(piece["first"])
            raise HeadscopeError(f"'{path}' is not what a worker sent; check the disk, and start again")

    def refuse_damaged(self, shards: Sequence[KeptShard[list[Value]]]) -> None:
        """See `Fold`: raise `ValueError` if a file is not as it was written."""
        for shard in shards:
            path = self.folder / shard.name
            if path.parent != self.folder or not path.is_file() or path.stat().st_size != shard.bytes:
                raise ValueError(f"does not fit '{path}'")
            with path.open("rb") as file:
                if file_digest(file, "sha256").hexdigest() != shard.sha256:
                    raise ValueError(f"does not fit '{path}'")


class _ShardArrays(Generic[Value]):
    """A shard whose arrays go to a file, batch by batch."""

    def __init__(self, observe: Observe[Value], file: "_Writable"):
        self.observe, self.file, self.size = observe, file, 0
        self.batches, self.inputs = list[tuple[Value, list[tuple[int, ...]]]](), list[int]()

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        observation, arrays = self.observe(group)
        halved = [np.ascontiguousarray(array, dtype=np.float16) for array in arrays]
        content = b"".join(array.tobytes() for array in halved)
        self.file.write(self.size, content)
        self.size += len(content)
        self.inputs += [encoded.index for encoded in group]
        self.batches.append((observation, [array.shape for array in halved]))

    def state(self) -> list[KeptShard[list[Value]]]:
        """The shard, as far as it was read; nothing of one without inputs."""
        if not self.batches:
            return []
        first, shapes = min(self.inputs), [shape for _, of_batch in self.batches for shape in of_batch]
        size = BYTES * sum(map(prod, shapes))  # Ctrl-C may have come in the middle of a batch
        digest = self.file.finish(first, size)
        return [KeptShard([observation for observation, _ in self.batches], shapes, str(first), digest)]


class _Writable(Protocol):
    """The file of a shard, which gets the number of the first input as its name."""

    def write(self, start: int, content: bytes, /) -> None: ...

    def finish(self, first: int, size: int, /) -> str:
        """Cut the file to its size. Returns: its SHA-256."""
        ...


@dataclass(frozen=True)
class _File:
    """A file in a folder; whoever writes it has a `key` of its own."""

    folder: Path
    key: str

    @property
    def path(self) -> Path:
        return self.folder / f"{UNFINISHED}{self.key}"

    def write(self, start: int, content: bytes) -> None:
        """Write a piece; the first one begins the file anew."""
        with writing(self.path, resumable=True):
            self.folder.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if start else "wb", buffering=0) as file:
                file.seek(start)
                write(file, content)

    def finish(self, first: int, size: int) -> str:
        """See `_Writable`."""
        with writing(self.path, resumable=True):
            with self.path.open("r+b") as file:
                file.truncate(size)
                digest = file_digest(file, "sha256").hexdigest()
                os.fsync(file.fileno())
            os.replace(self.path, self.folder / str(first))
        return digest


class _SentFile:
    """A file that the coordinator writes."""

    def __init__(self, channel: TaskChannel):
        self.channel, self.digest = channel, sha256()

    def write(self, start: int, content: bytes) -> None:
        """Send the pieces of some content."""
        self.digest.update(content)
        for offset in range(0, max(1, len(content)), PIECE):
            self.channel.piece(start=start + offset, content=content[offset : offset + PIECE])

    def finish(self, first: int, size: int) -> str:
        """See `_Writable`."""
        self.channel.piece(first=first, size=size, sha256=self.digest.hexdigest())
        return self.digest.hexdigest()
