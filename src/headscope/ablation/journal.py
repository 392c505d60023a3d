"""What a long computation has done so far, in a file that only grows: a killed one goes on where it was.

A line is a checksum and a record in JSON; the first record says what is computed, each other one holds the numbers of
one unit of it. A line that was torn by the end of a process, or spoilt since, counts as not written.
"""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from headscope.errors import HeadscopeError
from headscope.files import replacing, writing

Run = Mapping[str, str | int]
Units = dict[str, np.ndarray]


class Journal:
    """The numbers of the units that are done; without a file (see `opened`) they are kept in memory only."""

    def __init__(self, path: Path | None = None, file: BinaryIO | None = None, units: Units | None = None):
        self.path, self.file, self.units = path, file, {} if units is None else units

    def __contains__(self, unit: str) -> bool:
        return unit in self.units

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, unit: str) -> np.ndarray:
        return self.units[unit]

    def add(self, unit: str, values: np.ndarray) -> np.ndarray:
        """Keep the numbers of a unit; once this returns they survive whatever happens. Gives them back.

        Raises `HeadscopeError` if they cannot be written; what was there before is kept.
        """
        values = np.asarray(values)
        data = b64encode(values.tobytes()).decode()
        if self.path is not None and self.file is not None:
            line = _line({"unit": unit, "shape": values.shape, "dtype": values.dtype.str, "data": data})
            _append(self.path, self.file, line)
        self.units[unit] = values
        return values

    def once(self, unit: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """The numbers of a unit, computed unless they are there."""
        return self[unit] if unit in self else self.add(unit, compute())


@contextmanager
def opened(path: Path, run: Run) -> Iterator[Journal]:
    """Within this context a journal, new or as it was left.

    * `run`: whatever the numbers depend on.

    Raises `HeadscopeError` if the file is that of another run or no journal, or cannot be written; on Ctrl-C
    `KeyboardInterrupt` that says how to go on.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> for _ in range(2):
    ...     with opened(path, {"seed": 0}) as journal:
    ...         print("sum" in journal, journal.once("sum", lambda: np.array([1.5])))
    False [1.5]
    True [1.5]
    """
    if not path.exists():
        _create(path, run)
    lines = _lines(path)
    _refuse_other(path, lines[0] if lines else None, run)
    units = {record["unit"]: _values(record) for record in lines[1:] if record is not None}
    with writing(path, resumable=True):
        file: Any = path.open("ab", buffering=0)
    with file:
        journal = Journal(path, file, units)
        try:
            yield journal
        except KeyboardInterrupt:
            done = f"{len(journal)} units are kept in '{path}'"
            raise KeyboardInterrupt(f"{done}; start the same command again to go on from there") from None


def _create(path: Path, run: Run) -> None:
    """Write the first line, whole or not at all."""
    file: Any
    with replacing(path, resumable=True) as scratch, scratch.open("wb", buffering=0) as file:
        _write(file, _line({"headscope": "journal", "run": dict(run)}))


def _lines(path: Path) -> list[dict[str, Any] | None]:
    """The records; None for a line that is spoilt. A torn line at the end is removed from the file."""
    with writing(path, resumable=True):
        whole, end, torn = path.read_bytes().rpartition(b"\n")
        if torn and end:
            os.truncate(path, len(whole) + 1)
    return [_record(line) for line in whole.split(b"\n")] if end else []


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record).encode()
    return sha256(text).hexdigest().encode() + b" " + text + b"\n"


def _record(line: bytes) -> dict[str, Any] | None:
    digest, _, text = line.partition(b" ")
    return json.loads(text) if digest == sha256(text).hexdigest().encode() else None


def _values(record: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(b64decode(record["data"]), record["dtype"]).reshape(record["shape"])


def _append(path: Path, file: BinaryIO, line: bytes) -> None:
    """Write a line, or leave the file as it was."""
    before = file.tell()
    try:
        with writing(path, resumable=True):
            _write(file, line)
    except BaseException:
        with suppress(OSError):  # else whoever opens the file next does it
            file.truncate(before)
        raise


def _write(file: BinaryIO, data: bytes) -> None:
    """Write to the end, which one call may not do, and onto the disk."""
    while data:
        data = data[file.write(data) :]
    os.fsync(file.fileno())


def _refuse_other(path: Path, first: dict[str, Any] | None, run: Run) -> None:
    if first is None or "run" not in first:
        raise HeadscopeError(f"'{path}' is no journal of headscope; choose another folder with -o, or remove the file")
    before: dict[str, Any] = first["run"]
    for name in dict.fromkeys((*run, *before)):
        if before.get(name) != run.get(name):
            raise HeadscopeError(
                f"journal '{path}' was begun with {name} {before.get(name)}, now it is {run.get(name)}; "
                "choose another folder with -o, or remove the file"
            )
