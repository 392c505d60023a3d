"""The patterns of a shard, within the pass: maps become grids block by block, and none is kept but the clearest."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.encoding.block_parts import BlockParts
from headscope.encoding.encoded import Encoded
from headscope.passes.accumulators import Buffer, Tallies, added
from headscope.passes.forward import Forward
from headscope.passes.observing import RowsObserver
from headscope.passes.passes import Pass
from headscope.passes.planned_pass import PlannedPass
from headscope.passes.shards import Fold
from headscope.studies.heads.patterns.exemplars import Clearest, Picks, clearest_of_both
from headscope.studies.heads.patterns.grid import LEAST_TOKENS, MOST_TOKENS, grids, merged, pooled

Classify = Callable[[Float[Tensor, "map channel row column"]], Float[Tensor, "map pattern"]]
Natural = Callable[[Float[Tensor, "example head pattern"]], Float[Tensor, "example head pattern"]]


class PatternObserver(RowsObserver):
    """An observer that classifies each head's map of each example of the batch.

    Its values are `share`, the probability of each pattern at its natural rate; `counted`, 1 for the most probable
    pattern and 0 for the others; and `share_total`, the mean share of an example's heads. Examples that are too short
    or too long for the classifier have none.
    """

    def __init__(self, classify: Classify, natural: Natural = lambda probability: probability):
        self.classify, self.natural = classify, natural

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch = batch
        self.probabilities = BlockParts(batch.real.shape[1], self._classified, merged)

    def add(self, layer: int, rows: Rows) -> None:
        """See `RowsObserver`; maps are classified as soon as all of their queries are there."""
        classes, first_key = self.batch.token_class[rows.examples], rows.keys.start if rows.keys else 0
        self.probabilities.add(layer, rows, pooled(rows.attention, classes, rows.queries.start, first_key))

    def _classified(
        self, cells: Float[Tensor, "example head 2 row column"], rows: Rows
    ) -> Float[Tensor, "example head pattern"]:
        grid = grids(cells, self.batch.token_class[rows.examples])
        # [map, channel, row, column], then [example, head, pattern]
        return self.classify(grid.flatten(0, 1)).unflatten(0, grid.shape[:2])

    @property
    def probability(self) -> Float[Tensor, "example head pattern"]:
        """The probability of each pattern; heads of all layers in a row."""
        return self.probabilities.joined()

    @property
    def valid(self) -> Bool[Tensor, " example"]:
        """Mask of the examples that are long enough for the classifier."""
        return (self.batch.lengths >= LEAST_TOKENS) & (self.batch.lengths <= MOST_TOKENS)

    def finish(self) -> dict[str, Values]:
        """The values of the batch's examples."""
        probability = self.probability
        share = self.natural(probability)
        counted = torch.zeros_like(probability).scatter_(-1, probability.argmax(-1, keepdim=True), 1)
        valid = self.valid[:, None].expand(-1, probability.shape[-1])
        values = {"share": share, "counted": counted, "share_total": share.mean(1, keepdim=True)}
        return {name: Values(value, valid) for name, value in values.items()}


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
        self.counts.update(f"under {LEAST_TOKENS} tokens" for encoded in group if len(encoded) < LEAST_TOKENS)

    def state(self) -> PatternState:
        """The patterns of all batches so far."""
        return PatternState(self.buffer.flush(), dict(self.clearest.picks))


def pattern_pass(run: Pass, observer: PatternObserver, task: str, counts: Counter[str]) -> PlannedPass[PatternState]:
    """The pass over a corpus of the name `task`; `counts` are those of its encoder."""
    forward = Forward(run.model, observer)

    def start() -> PatternAccumulator:
        return PatternAccumulator(run, observer, forward.observe, task, counts)

    return run.fold(Fold(start, _merged, PatternState, forward=forward))


def _merged(first: PatternState, second: PatternState) -> PatternState:
    return PatternState(added(first.tallies, second.tallies), clearest_of_both(first.picks, second.picks))
