"""The journal of a run: a folder with the checkpoints of its passes; the same run, started again, goes on from them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headscope.storage.files import remove

# Least seconds between checkpoints, and how many times the cost of one they are apart at least.
SECONDS, TIMES = 5.0, 100


@dataclass
class PassJournal:
    """The checkpoints of a run, whose passes over corpora always come in the same order.

    * `folder`: made at the first checkpoint; a run of a few seconds writes none.
    * `run`: what the numbers of all passes depend on.
    * `kept`: whether the checkpoints outlive the result, and so are written at the end of each pass, too.
    * `silent`: whether nothing is said of a pass that goes on from a checkpoint, as in a survey.
    """

    folder: Path
    run: Mapping[str, str | int]
    kept: bool = False
    silent: bool = False
    passes: int = 0
    saved: float = field(default_factory=time.monotonic)
    cost: float = 0.0

    def next_pass(self) -> Path:
        """The file of the next pass."""
        self.passes += 1
        return self.folder / f"pass-{self.passes}"

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint: all of them take less than 1% of a long run."""
        return time.monotonic() - self.saved >= max(SECONDS, TIMES * self.cost)

    @property
    def next_arrays(self) -> Path:
        """The folder of the arrays of the next pass."""
        return self.folder / f"arrays-{self.passes + 1}"

    def remove(self) -> None:
        """Remove the checkpoints, once the result is written."""
        remove(self.folder)
