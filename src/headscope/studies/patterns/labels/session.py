"""The labels that one annotator gives to the maps of a folder: saved after each, and taken up again where they were."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.storage.files import opening
from headscope.studies.patterns.labels.labelled_maps import LABELS, Map, labels, read, write_labels

# Of the annotator alone: what others gave is neither shown nor written again.
BLIND = {"label": "", "annotator_a": "", "annotator_b": ""}


@dataclass
class Session:
    """The maps of a folder, their labels so far ("" for none), and the file in which these are kept.

    Several threads may label at once.
    """

    maps: list[Map]
    path: Path
    labels: list[str]
    history: list[tuple[int, str]] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def label(self, index: int, label: str) -> None:
        """Give a map a label, and save.

        Raises `HeadscopeError` if there is no such map or label, or if it cannot be saved.
        """
        if not 0 <= index < len(self.maps) or label not in ("", *PATTERNS):
            raise HeadscopeError(f"map {index}, label {label!r}: there are {len(self.maps)} maps and {PATTERNS}")
        with self.lock:
            before = self.labels[index]
            self._set(index, label)
            self.history.append((index, before))

    def undo(self) -> int | None:
        """Take the last label back, and save; the map's index, or None if there is nothing to take back."""
        with self.lock:
            if not self.history:
                return None
            index, before = self.history[-1]
            self._set(index, before)
            self.history.pop()
            return index

    def _set(self, index: int, label: str) -> None:
        now = [*self.labels[:index], label, *self.labels[index + 1 :]]
        write_labels(self.path, [replace(each, label=one) for each, one in zip(self.maps, now, strict=True)])
        self.labels = now


@opening()
def opened(folder: str | Path, annotator: str = "") -> Session:
    """The session of an annotator; each name has a file of its own, `labels-NAME.jsonl`, without a name `labels.jsonl`.

    Raises `HeadscopeError` if the folder has no maps, or labels of others and the annotator has no name.
    """
    folder, path = Path(folder), label_path(folder, annotator)
    if not (annotator or path.is_file()) and (folder / LABELS[1]).is_file():
        raise HeadscopeError(f"'{folder}' has labels of others; name yourself with --annotator NAME, to add your own")
    maps = [replace(each, **BLIND, annotator=annotator) for each in read(folder)]
    earlier = labels(path) if path.is_file() else {}
    return Session(maps, path, [earlier.get(each.id, "") for each in maps])


def label_path(folder: str | Path, annotator: str = "") -> Path:
    """The file of an annotator's labels.

    Raises `HeadscopeError` if the name cannot be part of a file's name.
    """
    if annotator and not re.fullmatch(r"[\w.-]{1,100}", annotator):
        raise HeadscopeError(f"annotator '{annotator[:40]}' cannot be part of a file's name; use letters and digits")
    return Path(folder) / (f"labels-{annotator}.jsonl" if annotator else LABELS[0])
