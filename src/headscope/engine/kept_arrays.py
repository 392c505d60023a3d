"""Arrays of a corpus (attention, hidden states) in half precision: a file for each shard, from which a run goes on."""

import operator
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Generic, TypeVar
from uuid import uuid4

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.encoded import Encoded
from headscope.engine.passes import Pass, PassResult
from headscope.engine.settings import Settings
from headscope.engine.shards import Fold
from headscope.files import remove, writing
from headscope.journal.lines import write

Value = TypeVar("Value")
# The observation of a batch, and the arrays that go with it.
Observed = tuple[Value, Sequence[Float[np.ndarray, "*dims"]]]
Observe = Callable[[list[Encoded]], Observed[Value]]
UNFINISHED = "unfinished-"
BYTES = 2  # of a number


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


class ArrayStore:
    """The arrays of passes, in the order in which they came: up to `budget` bytes in memory, the rest in their files.

    The files are in the journal, which has them until the result is written; without a journal they are removed at the
    end of the context.
    """

    def __init__(self, budget: int):
        self.budget, self.in_memory, self.on_disk = budget, 0, 0
        self.arrays: list[Float[Tensor, "*dims"]] = []
        self._scratch = ExitStack()

    def __enter__(self) -> "ArrayStore":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.arrays = []
        self._scratch.close()

    def gather(self, run: Pass, observe: Observe[Value], kind: Any) -> PassResult[list[Value]]:
        """The observations of each batch of a pass, whose arrays are kept; `kind` is the type of an observation.

        Raises `HeadscopeError` if the disk is full.
        """
        folder = self._folder(run.settings)
        for left in folder.glob(f"{UNFINISHED}*"):  # by a process that was killed
            remove(left)
        start, check = partial(_ShardFile, observe, folder), partial(_refuse_damaged, folder)
        fold = Fold(start, operator.add, list[KeptShard[list[kind]]], listed=True, check=check)
        with torch.inference_mode():
            result = replace(run, settings=run.settings.on_this_machine()).fold(fold)
        for shard in result.value:
            self._open(folder / shard.name, shard.shapes)
        observations = [each for shard in result.value for each in shard.observations]
        return PassResult(observations, result.coverage, result.attributes)

    def _folder(self, settings: Settings) -> Path:
        if settings.journal is None:
            return Path(self._scratch.enter_context(TemporaryDirectory(prefix="headscope-")))
        return settings.journal.folder / f"arrays-{settings.journal.passes + 1}"

    def _open(self, path: Path, shapes: Sequence[tuple[int, ...]]) -> None:
        whole, start = np.memmap(path, np.float16, mode="c") if path.stat().st_size else np.empty(0, np.float16), 0
        for shape in shapes:
            array = whole[start : start + prod(shape)].reshape(shape)
            start += array.size
            if self.in_memory + array.nbytes <= self.budget:
                self.in_memory += array.nbytes
                array = np.array(array)
            else:
                self.on_disk += array.nbytes
            self.arrays.append(torch.from_numpy(array))


class _ShardFile(Generic[Value]):
    """A shard whose arrays go to a file, batch by batch; at its end the file has the number of the first input."""

    def __init__(self, observe: Observe[Value], folder: Path):
        self.observe, self.path = observe, folder / f"{UNFINISHED}{uuid4().hex}"
        self.batches, self.inputs = list[tuple[Value, list[tuple[int, ...]]]](), list[int]()

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        observation, arrays = self.observe(group)
        halved = [np.ascontiguousarray(each, dtype=np.float16) for each in arrays]
        with writing(self.path, resumable=True):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                for each in halved:
                    write(file, each.tobytes())
        self.inputs += [each.index for each in group]
        self.batches.append((observation, [each.shape for each in halved]))

    def state(self) -> list[KeptShard[list[Value]]]:
        """The shard, as far as it was read; nothing of one without inputs."""
        if not self.batches:
            return []
        shapes = [shape for _, of_batch in self.batches for shape in of_batch]
        path = self.path.with_name(str(min(self.inputs)))
        with writing(path, resumable=True):
            with self.path.open("r+b") as file:
                file.truncate(BYTES * sum(map(prod, shapes)))  # Ctrl-C may have come in the middle of a batch
                digest = file_digest(file, "sha256").hexdigest()
                os.fsync(file.fileno())
            os.replace(self.path, path)
        self.path = path
        return [KeptShard([observation for observation, _ in self.batches], shapes, path.name, digest)]


def _refuse_damaged(folder: Path, shards: Sequence[KeptShard[Any]]) -> None:
    """Raise `ValueError` for a shard whose file is not as it was written."""
    for shard in shards:
        path = folder / shard.name
        if path.parent != folder or not path.is_file() or path.stat().st_size != shard.bytes:
            raise ValueError(f"does not fit '{path}'")
        with path.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != shard.sha256:
                raise ValueError(f"does not fit '{path}'")
