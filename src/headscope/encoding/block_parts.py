"""Sums that grow with the blocks of queries of a batch; and attention between words."""

from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows
from headscope.results.vocabulary import TOKEN_CLASSES

ROLES = tuple(TOKEN_CLASSES.index(name) for name in ("cls", "sep"))
# Attention from and to [CLS] and [SEP] stands before that of words.
SPECIAL = len(ROLES)


class BlockParts:
    """A part for each block of examples and heads; the blocks of its queries follow one another.

    * `read`: what becomes of a part that has all queries, given its rows; `merge`: joins it with that of later queries.
    * `summed`: whether parts are sums over examples, which are added up.
    """

    def __init__(
        self,
        tokens: int,
        read: Callable[[Tensor, Rows], Tensor] = lambda part, rows: part,
        merge: Callable[[Tensor, Tensor], Tensor] = torch.add,
        summed: bool = False,
    ):
        self.tokens, self.read, self.merge = tokens, read, merge
        self.join: Callable[[list[Tensor]], Tensor] = _sum if summed else _cat
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
        return _cat([self.join(_examples(self.layers[layer])) for layer in sorted(self.layers)], dim=1)


def _examples(parts: list[tuple[int, Tensor]]) -> list[Tensor]:
    return [_cat([part for _, part in blocks], dim=1) for _, blocks in groupby(parts, key=itemgetter(0))]


def _sum(tensors: list[Tensor]) -> Tensor:
    return torch.stack(tensors).sum(0)


def _cat(tensors: list[Tensor], dim: int = 0) -> Tensor:
    """As `torch.cat`, without a copy of a single tensor."""
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, dim)


class WordAttention:
    """The attention between the words of a batch, in `dtype`, collected block by block as an `Observer` is called.

    [CLS] and [SEP] are two words more that stand before them. To a word attention is the sum over the word's tokens,
    from a word the mean over them (Clark et al. 2019, section 4.1).
    """

    def __init__(self, batch: Batch, dtype: torch.dtype = torch.float32):
        self.maps = BlockParts(batch.real.shape[1], lambda part, rows: part.to(dtype))
        self.members = members(batch)
        self.sources = (self.members / self.members.sum(1, keepdim=True).clamp_min(1)).mT  # [example, word, query]

    def add(self, layer: int, rows: Rows) -> None:
        """Add a block; it becomes attention between words as soon as all queries of some examples are there."""
        self.maps.add(layer, rows, rows.between(self.sources, self.members))

    def joined(self) -> Float[Tensor, "example head word word"]:
        """The attention of all layers, with all heads in one row."""
        return self.maps.joined().cpu()


def members(batch: Batch) -> Float[Tensor, "example token word"]:
    """1 for the tokens of [CLS], of [SEP], and of each word."""
    roles = torch.stack([batch.token_class == role for role in ROLES], dim=-1)
    return torch.cat([roles.to(torch.float32), batch.sum_of_pieces], dim=-1)
