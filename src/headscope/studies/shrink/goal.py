"""The goal of a search, and where it begins: at its record if there is one."""

from dataclasses import dataclass

from headscope.encoding.encoded import Encoded
from headscope.outputs.size_and_speed import megabytes
from headscope.passes import Settings
from headscope.studies.shrink.answers import ModelAnswers
from headscope.studies.shrink.prices import measure
from headscope.studies.shrink.record import SearchRecord, SearchState
from headscope.studies.shrink.search import SizeSearch
from headscope.studies.shrink.sizes import Original
from headscope.studies.shrink.target import SizeTarget
from headscope.studies.shrink.timing import Timing


@dataclass(frozen=True)
class Goal:
    """What a search has to reach, in steps of one of `groups` parts of the neurons.

    * `unused`: megabytes that go in any case; `best_effort`: whether the nearest size will do.
    """

    target: SizeTarget
    groups: int
    unused: float
    best_effort: bool


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
    return SizeSearch(
        original, answers, inputs, before, prices, goal.target, goal.groups, goal.unused, settings
    ), stored


def unused_megabytes(original: Original, pieces: tuple[int, ...] | None, max_tokens: int | None) -> float:
    """Size of what goes in any case: unused pieces, and positions beyond the longest input."""
    if pieces is None and max_tokens is None:
        return 0.0
    return megabytes(original.model) - megabytes(original.cut(original.size, pieces, max_tokens))
