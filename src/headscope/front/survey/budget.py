"""A time that a survey keeps to: how many examples each study reads, from what the studies before it took."""

import json
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

from headscope.errors import HeadscopeError
from headscope.front.survey.costs import StudyEstimate
from headscope.storage.files import write_atomically

UNITS = {"s": 1, "m": 60, "h": 3600}
LEAST = 10  # examples: fewer say nothing
SIZES = "sizes.json"


def seconds_of(text: str) -> float:
    """The seconds of a time such as 90s, 10m or 1.5h.

    Raises `HeadscopeError` for anything else.

    >>> seconds_of("10m"), seconds_of("1.5h"), seconds_of("45")
    (600.0, 5400.0, 45.0)
    """
    written = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if not written or float(written[1]) == 0:
        raise HeadscopeError(f"budget '{text}' is no time; write 90s, 10m or 1h")
    return float(written[1]) * UNITS[written[2] or "s"]


def widest(examples: int) -> float:
    """The largest half-width of the 95% interval of a share of examples, from 0 to 1.

    >>> round(widest(100), 3)
    0.098
    """
    return 1.96 * 0.5 / sqrt(max(1, examples))


@dataclass
class Budget:
    """Seconds for some studies, one after the other.

    * `speed`: seconds that a second of the estimate takes on this machine, as far as it is known.
    """

    seconds: float
    estimates: Sequence[StudyEstimate]
    speed: float = 1.0
    clock: Callable[[], float] = time.monotonic
    sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began, self.done, self.timed = self.clock(), set[str](), set[str]()

    def size(self, study: str, most: int) -> int:
        """The number of examples that a study may read, so that it and the rest end in time; at most `most`.

        Studies of which no size is chosen read the same number.
        """
        left = [cost for cost in self.estimates if cost.study not in self.done]
        free = [cost for cost in left if cost.study not in self.sizes]
        rest = (self.seconds - (self.clock() - self.began)) / self.speed
        rest -= sum(cost.of(self.sizes[cost.study]) for cost in left if cost.study in self.sizes)
        chosen = bisect_right(range(1, most + 1), rest, key=lambda examples: sum(cost.of(examples) for cost in free))
        self.sizes[study] = max(min(LEAST, most), chosen)
        return self.sizes[study]

    def end(self, study: str, *, ran: bool = True) -> None:
        """Take note of a study that has ended; later sizes are chosen by the speed of those that `ran`."""
        self.done.add(study)
        if ran and study in self.sizes:
            self.timed.add(study)
            expected = sum(cost.of(self.sizes[cost.study]) for cost in self.estimates if cost.study in self.timed)
            self.speed = (self.clock() - self.began) / max(1e-9, expected)


def kept_sizes(folder: Path) -> dict[str, int]:
    """The sizes that a survey in a folder was begun with; none in a new one."""
    path = folder / SIZES
    return {str(key): int(value) for key, value in json.loads(path.read_text()).items()} if path.is_file() else {}


def keep_sizes(folder: Path, sizes: dict[str, int]) -> None:
    """Keep sizes for a resumed run of the same command."""
    write_atomically(folder / SIZES, json.dumps(sizes))
