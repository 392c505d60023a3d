"""Labels of annotators: the session of one, saved after each label, and the agreement of two.

Agreement is the share of maps and Cohen's kappa (Cohen 1960).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS
from headscope.storage.files import opening
from headscope.studies.heads.patterns.labelled_maps import LABELS, Map, read
from pattern_workshop.written_maps import labels, write_labels

# Of the annotator alone: what others gave is neither shown nor written again.
BLIND = {"label": "", "annotator_a": "", "annotator_b": ""}
Agreement = dict[str, int | float | dict[str, int]]


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
        write_labels(self.path, [replace(labelled, label=one) for labelled, one in zip(self.maps, now, strict=True)])
        self.labels = now


@opening()
def opened(folder: str | Path, annotator: str = "") -> Session:
    """The session of an annotator; each name has a file of its own, `labels-NAME.jsonl`, without a name `labels.jsonl`.

    Raises `HeadscopeError` if the folder has no maps, or labels of others and the annotator has no name.
    """
    folder, path = Path(folder), label_path(folder, annotator)
    if not (annotator or path.is_file()) and (folder / LABELS[1]).is_file():
        raise HeadscopeError(f"'{folder}' has labels of others; name yourself with --annotator NAME, to add your own")
    maps = [replace(labelled, **BLIND, annotator=annotator) for labelled in read(folder)]
    earlier = labels(path) if path.is_file() else {}
    return Session(maps, path, [earlier.get(labelled.id, "") for labelled in maps])


def label_path(folder: str | Path, annotator: str = "") -> Path:
    """The file of an annotator's labels.

    Raises `HeadscopeError` if the name cannot be part of a file's name.
    """
    if annotator and not re.fullmatch(r"[\w.-]{1,100}", annotator):
        raise HeadscopeError(f"annotator '{annotator[:40]}' cannot be part of a file's name; use letters and digits")
    return Path(folder) / (f"labels-{annotator}.jsonl" if annotator else LABELS[0])


def agreement(first: str | Path, second: str | Path) -> Agreement:
    """Agreement of two files of labels on the maps (by id) that both have labels for.

    Returns: `n_maps`, `agreement` (share of maps), `kappa`, and `differ`, the differing labels with counts.
    Raises `HeadscopeError` if they have no labelled map in common.
    """
    mine, others = ({id: label for id, label in labels(path).items() if label} for path in (first, second))
    if not (both := sorted(mine.keys() & others.keys())):
        raise HeadscopeError(f"'{first}' and '{second}' have no labelled map in common; name labels of the same maps")
    pairs = [(mine[id], others[id]) for id in both]
    differ = Counter(f"{one} / {other}" for one, other in pairs if one != other)
    same = sum(one == other for one, other in pairs) / len(pairs)
    one, other = zip(*pairs, strict=True)
    return {"n_maps": len(both), "agreement": same, "kappa": kappa(one, other), "differ": dict(differ.most_common())}


def kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Cohen's kappa: agreement beyond what the labels' frequencies alone would give, as a share of what there could be.

    1 where both give all items one and the same label.

    >>> kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    """
    n = len(first)
    same = sum(one == other for one, other in zip(first, second, strict=True)) / n
    one, other = Counter(first), Counter(second)
    chance = sum(one[label] * other[label] for label in one) / n**2
    return 1.0 if chance == 1 else (same - chance) / (1 - chance)
