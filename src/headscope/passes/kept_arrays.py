"""Arrays of a corpus (attention, hidden states) in half precision: a file for each shard, from which a run goes on.

Tables of equal shape are in memory up to a budget, the others in a file that is then deleted.
"""

import operator
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Generic, cast

import numpy as np
import torch
from jaxtyping import Float, Float16
from torch import Tensor

from headscope.errors import HeadscopeError
from headscope.passes.array_files import ArrayFiles, KeptShard, Observe, Value
from headscope.passes.forward import Forward
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PassResult, PlannedPass
from headscope.passes.settings import PassJournal
from headscope.passes.shards import Fold


@dataclass(frozen=True)
class ArrayPass(Generic[Value]):
    """A pass that keeps arrays of each batch; `observe`: its observation, of the type `kind`, and its arrays."""

    inputs: Pass
    observe: Observe[Value]
    kind: Any
    forward: Forward[Any] | None = None

    def planned(self, folder: Path | None = None) -> PlannedPass[list[KeptShard[list[Value]]]]:
        """The pass, whose files go to a folder; by default to that of the journal."""
        journal = self.inputs.settings.journal
        files = ArrayFiles(self.observe, folder or cast(PassJournal, journal).next_arrays)
        files.clear()
        shards, refuse = list[KeptShard[list[self.kind]]], files.refuse_damaged
        return self.inputs.fold(
            Fold(files.here, operator.add, shards, True, refuse_damaged=refuse, files=files, forward=self.forward)
        )


def read_arrays(passes: Iterable[ArrayPass[Any]]) -> None:
    """Read passes one after the other in a worker of a cluster, whose coordinator alone computes from the arrays."""
    with ArrayStore(budget=0) as store:
        for planned in passes:
            store.gather(planned)


class ArrayStore:
    """The arrays of passes, in the order in which they came: up to `budget` bytes in memory, the rest in their files.

    The files are in the journal, which has them until the result is written; without a journal they are removed at the
    end of the context. A worker on another machine sends its arrays, and has none.
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

    def gather(self, arrays: ArrayPass[Value]) -> PassResult[list[Value]]:
        """The observations of each batch of a pass, whose arrays are kept.

        Raises `HeadscopeError` if the disk is full.
        """
        settings, folder = arrays.inputs.settings, None
        if settings.in_worker:
            folder = Path(os.devnull)  # it sends its files
        elif settings.journal is None:
            folder = Path(self._scratch.enter_context(TemporaryDirectory(prefix="headscope-")))
        planned = arrays.planned(folder)
        with torch.inference_mode():
            result = planned.read()
        files: Any = planned.fold.files
        for shard in result.value:
            self._open(files.folder / shard.name, shard.shapes)
        observations = [observation for shard in result.value for observation in shard.observations]
        return PassResult(observations, result.coverage, result.attributes)

    def _open(self, path: Path, shapes: Sequence[tuple[int, ...]]) -> None:
        values, start = np.memmap(path, np.float16, mode="c") if path.stat().st_size else np.empty(0, np.float16), 0
        for shape in shapes:
            array = values[start : start + prod(shape)].reshape(shape)
            start += array.size
            if self.in_memory + array.nbytes <= self.budget:
                self.in_memory += array.nbytes
                array = np.array(array)
            else:
                self.on_disk += array.nbytes
            self.arrays.append(torch.from_numpy(array))


@contextmanager
def half_precision_tables(
    number: int, shape: tuple[int, ...], budget: int
) -> Iterator[list[Float16[np.ndarray, "*shape"]]]:
    """Tables of zeros while the context lasts; up to `budget` bytes of them are in memory.

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
    with tempfile.TemporaryFile() as file:
        try:
            # All is written now: on a full disk, a page that is first written later would end the process.
            for _ in range(number - inside):
                file.write(bytes(size))
            file.flush()
        except OSError as error:
            why = f"{error.strerror or error}; free space there, or raise --memory"
            raise HeadscopeError(f"vectors cannot be kept in '{tempfile.gettempdir()}': {why}") from error
        on_disk = np.memmap(file, dtype=np.float16, mode="r+", shape=(number - inside, *shape))
        yield tables + [on_disk[table] for table in range(number - inside)]
