"""The patterns of a shard: tallies of their shares, and the clearest map of each head and pattern."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from headscope.encoding.encoded import Encoded
from headscope.passes.accumulators import Tallies, added
from headscope.passes.observing import observing
from headscope.passes.passes import Pass, PassResult
from headscope.passes.resampling_buffer import Buffer
from headscope.passes.shards import Fold
from headscope.studies.patterns.classifier.grid import LEAST_TOKENS
from headscope.studies.patterns.exemplars import Clearest, Picks, clearest_of_both
from headscope.studies.patterns.observer import PatternObserver


@dataclass(frozen=True)
class PatternState:
    """Tallies of the values of `PatternObserver`, and the clearest map of each head and pattern."""

    tallies: Tallies
    picks: Picks


class PatternAccumulator:
    """The patterns of the batches of a shard; `counts` counts the inputs that are too short to have one."""

    def __init__(self, run: Pass, observer: PatternObserver, observe: Callable, task: str, counts: Counter[str]):
        self.observer, self.observe, self.task, self.counts = observer, observe, task, counts
        self.buffer, self.clearest = Buffer(run.settings.seed, run.settings.resamples), Clearest(run.model)

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        values = self.observe(group)
        self.buffer.add(self.observer.batch.unit, values)
        self.clearest.add(self.task, group, self.observer.probability, self.observer.valid)
        self.counts.update(f"under {LEAST_TOKENS} tokens" for each in group if len(each) < LEAST_TOKENS)

    def state(self) -> PatternState:
        """The patterns of all batches so far."""
        return PatternState(self.buffer.flush(), dict(self.clearest.picks))


def read_patterns(run: Pass, observer: PatternObserver, task: str, counts: Counter[str]) -> PassResult[PatternState]:
    """One pass over a corpus of the name `task`; `counts` are those of its encoder."""
    with observing(run.model, observer) as observe:

        def start() -> PatternAccumulator:
            return PatternAccumulator(run, observer, observe, task, counts)

        return run.fold(Fold(start, _merged, PatternState))


def _merged(one: PatternState, other: PatternState) -> PatternState:
    return PatternState(added(one.tallies, other.tallies), clearest_of_both(one.picks, other.picks))
