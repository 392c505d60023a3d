"""What is read off the blocks of a batch: those of later queries are added, heads and examples stand side by side."""

from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

import torch
from torch import Tensor

from headscope.encoding.batch import Rows


class BlockParts:
    """A part for each block of examples and heads; the blocks of its queries follow one another.

    * `tokens`: the number of queries of the batch.
    * `read`: what becomes of a part that has all queries, given its rows.
    * `merge`: joins a part with that of later queries.
    """

    def __init__(
        self,
        tokens: int,
        read: Callable[[Tensor, Rows], Tensor] = lambda part, rows: part,
        merge: Callable[[Tensor, Tensor], Tensor] = torch.add,
    ):
        self.tokens, self.read, self.merge = tokens, read, merge
        # Of each layer, each part with the first of its examples.
        self.layers: dict[int, list[tuple[int, Tensor]]] = defaultdict(list)

    def add(self, layer: int, rows: Rows, part: Tensor) -> None:
        """Add what was read off a block."""
        parts = self.layers[layer]
        if rows.queries.start > 0:
            part = self.merge(parts.pop()[1], part)
        if rows.queries.stop == self.tokens:
            part = self.read(part, rows)
        parts.append((rows.examples.start, part))

    def joined(self) -> Tensor:
        """The parts of all layers [example, head, ...]; heads of all layers in a row."""
        return _cat([_cat(_examples(self.layers[layer]), dim=0) for layer in sorted(self.layers)], dim=1)


def _examples(parts: list[tuple[int, Tensor]]) -> list[Tensor]:
    return [_cat([part for _, part in blocks], dim=1) for _, blocks in groupby(parts, key=itemgetter(0))]


def _cat(tensors: list[Tensor], dim: int) -> Tensor:
    """As `torch.cat`, without a copy of a single tensor."""
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, dim)
