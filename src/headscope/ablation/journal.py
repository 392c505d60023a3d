"""The finished units of a long computation, in a file that only grows: a killed computation resumes from it.

The lines are those of `journal.lines`. The first record describes the computation, each other one holds the numbers or
the JSON value of one unit.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from headscope.errors import HeadscopeError
from headscope.storage.codec import decode_array, encode
from headscope.storage.files import writing
from headscope.storage.fingerprint import Fingerprint, difference
from headscope.storage.lines import Record, append_line, line_of, read_lines, replace_lines

Json = TypeVar("Json")
DIGEST = 64  # characters of a digest


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

    def forget(self, units: Iterable[str]) -> None:
        """Forget units, which are then computed again."""
        for unit in units:
            del self.units[unit]

    def add_array(self, unit: str, values: np.ndarray) -> np.ndarray:
        """Keep the numbers of a unit on the disk, and return them.

        Raises `HeadscopeError` if they cannot be written; earlier units are kept.
        """
        values = np.asarray(values)
        self._add({"unit": unit} | encode(values), values)
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

    def _add(self, record: Record, value: Any) -> None:
        if self.path is not None and self.file is not None:
            append_line(self.path, self.file, line_of(record))
        self.units[record["unit"]] = value


@contextmanager
def opened(path: Path, run: Fingerprint, on_notice: Callable[[str], None] = lambda line: None) -> Iterator[Journal]:
    """Open a journal, new or as it was left; one of another run is begun anew.

    * `run`: everything that the numbers depend on.
    * `on_notice`: called with one line if the file is that of another run, or damaged.

    Raises `HeadscopeError` if the file is no journal, or cannot be written; on Ctrl-C `KeyboardInterrupt` whose
    message tells how to resume.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "journal"
    >>> for _ in range(2):
    ...     with opened(path, {"seed": 0}) as journal:
    ...         print("sum" in journal, journal.once_array("sum", lambda: np.array([1.5])))
    False [1.5]
    True [1.5]
    """
    header = line_of({"headscope": "journal", "run": dict(run)})
    if not path.exists():
        replace_lines(path, [header])
    units = dict(unit for record in _kept(path, header, run, on_notice) if (unit := _unit(record)))
    with writing(path, resumable=True):
        file: Any = path.open("ab", buffering=0)
    with file:
        journal = Journal(path, file, units)
        try:
            yield journal
        except KeyboardInterrupt:
            done = f"{len(journal)} units are kept in '{path}'"
            raise KeyboardInterrupt(f"{done}; start the same command again to go on from there") from None


def _kept(path: Path, header: bytes, run: Fingerprint, on_notice: Callable[[str], None]) -> list[Record]:
    """The records after the first that are whole and of this run; all others are removed from the file."""
    ours = _has_digest(path)
    first, *records = list(read_lines(path)) or [None]
    if not ours or (first and not isinstance(first.get("run"), dict)):
        raise HeadscopeError(f"'{path}' is no journal of headscope; choose another folder with -o, or remove the file")
    changed = difference(first["run"], run) if first else ""
    kept = [record for record in records if record is not None and first and not changed]
    if changed or not first:
        on_notice(f"'{path}' {f'was begun with {changed}' if first else 'is damaged'}; the sweep starts anew")
    elif len(kept) < len(records):
        on_notice(f"'{path}' is damaged; {len(records) - len(kept)} of {len(records)} units are computed again")
    if len(kept) < len(records) or not first or changed:
        replace_lines(path, [header, *map(line_of, kept)])
    return kept


def _has_digest(path: Path) -> bool:
    """Whether a file begins with a digest, even a damaged one."""
    with writing(path, resumable=True), path.open("rb") as file:
        return file.read(DIGEST + 1)[DIGEST:] == b" "


def _unit(record: Record) -> tuple[str, Any] | None:
    """The name and the value of a unit; None for a record that is none, which counts as not written."""
    try:
        return str(record["unit"]), record["json"] if "json" in record else decode_array(record)
    except (ValueError, LookupError, TypeError, OverflowError):
        return None
