"""What a reproduction ran, on which data, and what is missing: a file beside its results."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.storage.files import opening, write_atomically

FILE = "reproduction.json"
SCHEMA = 1


@dataclass(frozen=True)
class MadeRun:
    """A run: its command ("" if there is none), what stood in for the paper's data, and why it was not made."""

    name: str
    command: str = ""
    deviations: tuple[str, ...] = ()
    lacks: str = ""


@dataclass(frozen=True)
class ReproductionRecord:
    """A reproduction: the paper, the model, the limit of examples, and its runs."""

    paper: str
    model: str
    limit: int | None
    runs: tuple[MadeRun, ...]


def write_record(record: ReproductionRecord, directory: Path) -> Path:
    """Write `directory/reproduction.json`; return its path."""
    return write_atomically(directory / FILE, json.dumps({"schema": SCHEMA} | asdict(record), indent=1) + "\n")


@opening()
def read_record(directory: Path) -> ReproductionRecord:
    """The record of a folder. Raises `HeadscopeError` if it cannot be read."""
    try:
        data: Mapping[str, Any] = json.loads((directory / FILE).read_text(encoding="utf-8"))
        limit = data["limit"]
        runs = tuple(
            MadeRun(str(run["name"]), str(run["command"]), tuple(map(str, run["deviations"])), str(run["lacks"]))
            for run in data["runs"]
        )
        return ReproductionRecord(str(data["paper"]), str(data["model"]), None if limit is None else int(limit), runs)
    except (ValueError, KeyError, TypeError) as error:
        raise HeadscopeError(f"'{directory / FILE}' is no record of a reproduction; run it again") from error
