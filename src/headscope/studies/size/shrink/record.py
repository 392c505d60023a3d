"""What a run has done so far, in a folder: prices and steps of the search, from which the same run goes on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from headscope.storage.codec import decode, encode
from headscope.storage.files import remove
from headscope.storage.hashes import Fingerprint, difference
from headscope.storage.lines import line_of, read_lines, replace_lines
from headscope.studies.size.shrink.plan import Size
from headscope.studies.size.shrink.prices import Prices

FORMAT = "search for a smaller model"


@dataclass(frozen=True)
class Step:
    """A step of the search.

    * `part`: what was removed; empty for the whole model.
    * `change`: of the outputs of the model after it, from those of the whole model (`scores.change`).
    * `megabytes`, `share`: the size, and the expected share of the whole model's time.
    """

    part: str
    size: Size
    change: float
    megabytes: float
    share: float


@dataclass(frozen=True)
class SearchState:
    """A search so far.

    * `steps`: the first is the whole model; `known`: what each part was worth when it was last measured.
    """

    prices: Prices
    steps: list[Step]
    known: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchRecord:
    """The file of a search: a line for the run, and one for the state of the search.

    * `run`: what its numbers depend on; a file of another run is not read.
    """

    path: Path
    run: Fingerprint
    on_notice: Callable[[str], None]

    def read(self) -> SearchState | None:
        """What the file has; None without one, or with one of another run or a damaged one, which is said."""
        if not self.path.is_file():
            return None
        try:
            first, second = read_lines(self.path)
            if first is None or second is None or first["headscope"] != FORMAT:
                raise ValueError
            if not (changed := difference(first["run"], self.run)):
                state = decode(second["state"], SearchState)
                self.on_notice(f"{len(state.steps) - 1} steps are done by '{self.path}'; the search resumes")
                return state
            reason = f"was begun with {changed}"
        except (ValueError, TypeError, LookupError, AttributeError):
            reason = "is damaged"
        self.on_notice(f"'{self.path}' {reason}; the search starts again")
        return None

    def save(self, state: SearchState) -> None:
        """Write what is done, so that it survives a power cut.

        Raises `HeadscopeError` if it cannot be written; the former file is kept.
        """
        run = line_of({"headscope": FORMAT, "run": self.run})
        replace_lines(self.path, [run, line_of({"state": encode(state)})])

    def remove(self) -> None:
        """Remove the folder of the file, once the result is complete."""
        remove(self.path.parent)
