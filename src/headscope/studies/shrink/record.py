"""What a run has done so far, in a folder: prices and steps of the search, from which the same run goes on."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope.storage.files import remove, write_atomically
from headscope.storage.hashes import Fingerprint, difference

FORMAT = "search for a smaller model"


@dataclass(frozen=True)
class SearchRecord:
    """The file of a search.

    * `run`: what its numbers depend on; a file of another run is not read.
    """

    path: Path
    run: Fingerprint
    on_notice: Callable[[str], None]

    def read(self) -> dict[str, Any] | None:
        """What the file has; None without one, or with one of another run or a damaged one, which is said."""
        if not self.path.is_file():
            return None
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            changed = "" if stored["headscope"] == FORMAT else "another format"
            changed = changed or difference(stored["run"], self.run)
            if not changed:
                self.on_notice(f"{len(stored['steps']) - 1} steps are done by '{self.path}'; the search goes on")
                return stored
            reason = f"was begun with {changed}"
        except (ValueError, TypeError, LookupError):
            reason = "is damaged"
        self.on_notice(f"'{self.path}' {reason}; the search starts anew")
        return None

    def save(self, content: dict[str, Any]) -> None:
        """Write what is done, so that it survives a power cut.

        Raises `HeadscopeError` if it cannot be written; the former file is kept.
        """
        stored = {"headscope": FORMAT, "run": self.run} | content
        write_atomically(self.path, json.dumps(stored), lasting=True)

    def remove(self) -> None:
        """Remove the folder of the file, once the result is complete."""
        remove(self.path.parent)
