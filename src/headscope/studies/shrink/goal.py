"""The goal of a search, and where it begins: at its record if there is one."""

from collections.abc import Callable
from dataclasses import dataclass

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.outputs.size_and_speed import megabytes
from headscope.passes import Settings
from headscope.studies.shrink.answers import ModelAnswers
from headscope.studies.shrink.eight_bit_files import EightBitFiles
from headscope.studies.shrink.prices import measure
from headscope.studies.shrink.record import SearchRecord, SearchState
from headscope.studies.shrink.search import SizeSearch
from headscope.studies.shrink.sizes import Original
from headscope.studies.shrink.step_files import StepFiles
from headscope.studies.shrink.target import EIGHT_BIT, SizeTarget
from headscope.studies.shrink.timing import Timing

# Folder of the files of eight bits, beside the record.
FILES = "eight-bits"


@dataclass(frozen=True)
class Goal:
    """What a search has to reach, in steps of one of `groups` parts of the neurons.

    * `unused`: megabytes that go in any case; `best_effort`: whether the nearest size will do.
    * `keeps`: see `SizeSearch`.
    """

    target: SizeTarget
    groups: int
    unused: float
    best_effort: bool
    keeps: Callable[[Model], bool] | None = None


def begun(
    original: Original,
    answers: ModelAnswers,
    inputs: list[Encoded],
    timing: Timing,
    goal: Goal,
    record: SearchRecord,
    settings: Settings,
) -> tuple[SizeSearch, SearchState | None]:
    """A search with its prices, and what its record has of a run that was killed."""
    stored = record.read()
    if stored is None:  # the training of another run, too
        record.remove()
    before = answers.of(original.model, inputs, settings)
    # with other prices a search would end elsewhere
    prices = stored.prices if stored else measure(original, timing)
    files = None
    if EIGHT_BIT in original.kinds:
        own = EightBitFiles(original, record.path.with_name(FILES), answers)
        files = StepFiles(own, inputs, before, goal.unused, settings)
    search = SizeSearch(
        original, answers, inputs, before, prices, goal.target, goal.groups, goal.unused, settings, goal.keeps, files
    )
    return search, stored


def unused_megabytes(original: Original, pieces: tuple[int, ...] | None, max_tokens: int | None) -> float:
    """Size of what goes in any case: unused pieces, and positions beyond the longest input."""
    if pieces is None and max_tokens is None:
        return 0.0
    return megabytes(original.model) - megabytes(original.cut(original.size, pieces, max_tokens))
