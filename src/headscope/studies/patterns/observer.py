"""The pattern of every head's map, within the pass: maps become grids block by block, and none is kept."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.studies.patterns.classifier.grid import LEAST_TOKENS, MOST_TOKENS, grids, merged, pooled

Classify = Callable[[Float[Tensor, "map channel row column"]], Float[Tensor, "map pattern"]]
Natural = Callable[[Float[Tensor, "example head pattern"]], Float[Tensor, "example head pattern"]]


class PatternObserver:
    """An observer that classifies each head's map of each example of the batch, a layer at a time.

    Its values are `share`, the probability of each pattern at its natural rate; `counted`, 1 for the most probable
    pattern and 0 for the others; and `share_total`, the mean share of an example's heads. Examples that are too short
    or too long for the classifier have none.
    """

    batch: Batch

    def __init__(self, classify: Classify, natural: Natural = lambda probability: probability):
        self.classify, self.natural = classify, natural

    def start(self, batch: Batch) -> None:
        """Forget the batch before, and expect this one."""
        self.batch = batch
        self.parts: list[Float[Tensor, "example head 2 row column"]] = []
        self.layers: list[Float[Tensor, "example head pattern"]] = []

    def __call__(self, layer: int, attention: Tensor, examples: slice, queries: slice, *_: object) -> None:
        """See `Observer`; after its last block a layer is classified."""
        part = pooled(attention, self.batch.token_class[examples], queries.start)
        if queries.start == 0:
            self.parts.append(part)
        else:
            self.parts[-1] = merged(self.parts[-1], part)
        if (examples.stop, queries.stop) == tuple(self.batch.real.shape):
            self.layers.append(self._classified())
            self.parts = []

    def _classified(self) -> Float[Tensor, "example head pattern"]:
        grid = grids(torch.cat(self.parts), self.batch.token_class)
        # [map, channel, row, column], then [example, head, pattern]
        return self.classify(grid.flatten(0, 1)).unflatten(0, grid.shape[:2])

    @property
    def probability(self) -> Float[Tensor, "example head pattern"]:
        """The probability of each pattern; heads of all layers in a row."""
        return torch.cat(self.layers, dim=1)

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
        return {name: Values(each, valid) for name, each in values.items()}
