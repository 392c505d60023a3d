"""The finished units of a long computation, in a file that only grows: a killed computation resumes from it.

A line is a checksum and a record in JSON. The first record describes the computation, each other one holds the numbers
or the JSON value of one unit. A line that was torn by the end of a process, or damaged since, counts as not written.
"""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from headscope.errors import HeadscopeError
from headscope.files import replacing, writing

Run = Mapping[str, str | int]
Json = TypeVar("Json")


class Journal:
    """The values of the finished units; without a file (see `opened`) they are kept in memory only."""

    def __init__(self, path: Path | None = None, file: BinaryIO | None = None, units: dict[str, Any] | None = None):
        self.path, self.file, self.units = path, file, {} if units is None else units

    def __contains__(self, unit: str) -> bool:
        return unit in self.units

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, unit: str) -> Any:
        return self.units[unit]

    def add_array(self, unit: str, values: np.ndarray) -> np.ndarray:
        """Keep the numbers of a unit on the disk, and return them.

        Raises `HeadscopeError` if they cannot be written; earlier units are kept.
        """
        values = np.asarray(values)
        data = b64encode(values.tobytes()).decode()
        self._add({"unit": unit, "shape": values.shape, "dtype": values.dtype.str, "data": data}, values)
        return values

    def once_array(self, unit: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """The numbers of a unit, computed unless the journal has them."""
        return self[unit] if unit in self else self.add_array(unit, compute())

    def once_json(self, unit: str, compute: Callable[[], Json]) -> Json:
        """The JSON value of a unit, computed unless the journal has it; tuples become lists."""
        if unit not in self:
            value = json.loads(json.dumps(compute()))
            self._add({"unit": unit, "json": value}, value)
        return self[unit]

    def _add(self, record: dict[str, Any], value: Any) -> None:
        if self.path is not None and self.file is not None:
            _append(self.path, self.file, _line(record))
        self.units[record["unit"]] = value


@contextmanager
def opened(path: Path, run: Run) -> Iterator[Journal]:
    """Open a journal, new or as it was left.

    * `run`: everything that the numbers depend on.

    Raises `HeadscopeError` if the file is that of another run or no journal, or cannot be written; on Ctrl-C
    `KeyboardInterrupt` whose message tells how to resume.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> for _ in range(2):
    ...     with opened(path, {"seed": 0}) as journal:
    ...         print("sum" in journal, journal.once_array("sum", lambda: np.array([1.5])))
    False [1.5]
    True [1.5]
    """
    if not path.exists():
        _create(path, run)
    lines = _lines(path)
    _refuse_other(path, lines[0] if lines else None, run)
    units = {record["unit"]: _value(record) for record in lines[1:] if record is not None}
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
    """The records; None for a damaged line. A torn line at the end is removed from the file."""
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


def _value(record: dict[str, Any]) -> Any:
    if "json" in record:
        return record["json"]
    return np.frombuffer(b64decode(record["data"]), record["dtype"]).reshape(record["shape"])


def _append(path: Path, file: BinaryIO, line: bytes) -> None:
    """Write a line, or leave the file as it was."""
    before = file.tell()
    try:
        with writing(path, resumable=True):
            _write(file, line)
    except BaseException:
        with suppress(OSError):  # else `_lines` does it when the file is opened next
            file.truncate(before)
        raise


def _write(file: BinaryIO, data: bytes) -> None:
    """Write all bytes, for which one call may not do, and flush them to the disk."""
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
