"""Files of arrays in half precision, one for each shard, in the folder of the process that computes from them.

Workers on this machine write there themselves; one elsewhere sends its file piece by piece.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from math import prod
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
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
        key = uuid4().hex
        return _ShardArrays(self.observe, lambda **piece: self.receive(key, piece))

    def sending(self, channel: TaskChannel) -> "_ShardArrays[Value]":
        return _ShardArrays(self.observe, channel.piece)

    def receive(self, key: int | str, piece: Record) -> None:
        """Write a piece of the file of a shard: its content, or its end; the first piece begins a new file."""
        path, start = self.folder / f"{UNFINISHED}{key}", piece.get("start")
        with writing(path, resumable=True):
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("r+b" if start != 0 else "wb", buffering=0) as file:
                if start is not None:
                    file.seek(start)
                    write(file, piece["content"])
                    return
                file.truncate(piece["size"])
                file.seek(0)
                digest = file_digest(file, "sha256").hexdigest()
                os.fsync(file.fileno())
            os.replace(path, end := self.folder / str(piece["first"]))
        if digest != piece["sha256"]:
            raise HeadscopeError(f"'{end}' is not what a worker sent; check the disk, and start again")

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
    """A shard whose arrays go to a file, batch by batch; `send` takes a piece of it, see `ArrayFiles.receive`."""

    def __init__(self, observe: Observe[Value], send: Callable[..., None]):
        self.observe, self.send = observe, send
        self.batches, self.inputs = list[_KeptBatch[Value]](), list[int]()

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`; Ctrl-C leaves a batch in or out as a whole."""
        observation, arrays = self.observe(group)
        with np.errstate(over="ignore"):
            halved = [np.ascontiguousarray(array, dtype=np.float16) for array in arrays]
        if any(np.isinf(array).any() for array in halved):
            raise HeadscopeError("the states of an input are larger than half precision holds; use another model")
        content = b"".join(array.tobytes() for array in halved)
        size, digest = (self.batches[-1].size, self.batches[-1].digest.copy()) if self.batches else (0, sha256())
        digest.update(content)
        for offset in range(0, max(1, len(content)), PIECE):
            self.send(start=size + offset, content=content[offset : offset + PIECE])
        self.inputs += [encoded.index for encoded in group]
        self.batches.append(_KeptBatch(observation, [array.shape for array in halved], size + len(content), digest))

    def state(self) -> list[KeptShard[list[Value]]]:
        """The shard, as far as it was read; nothing of one without inputs."""
        if not self.batches:
            return []
        first, last = min(self.inputs), self.batches[-1]
        self.send(first=first, size=last.size, sha256=last.digest.hexdigest())
        shapes = [shape for batch in self.batches for shape in batch.shapes]
        observations = [batch.observation for batch in self.batches]
        return [KeptShard(observations, shapes, str(first), last.digest.hexdigest())]


class _KeptBatch(NamedTuple, Generic[Value]):
    """A batch of a shard; `size` and `digest` are of the file up to its end."""

    observation: Value
    shapes: list[tuple[int, ...]]
    size: int
    digest: Any
