"""Attention from each piece of a small vocabulary to each: sums over tokens, of which no example is kept."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, BlockIndex, Rows, Values
from headscope.passes.measures import Measure
from headscope.results.variables import Variable
from headscope.studies.heads.profile import STUDY

NAMES = ("piece_pair_attention", "piece_pair_multiple")


@dataclass(frozen=True)
class PieceMembers:
    """The tokens of each of some pieces, by their ids."""

    ids: tuple[int, ...]

    def __call__(self, batch: Batch) -> Float[Tensor, "example token group"]:
        """1 for the tokens of each piece."""
        ids = batch.inputs["input_ids"]
        return (ids[..., None] == torch.tensor(self.ids, device=ids.device)).float()


@dataclass(frozen=True)
class PiecePairSums:
    """What tokens of each piece give each piece, and the same over its share of the tokens that a query sees.

    * `causal`: whether tokens see none after them.
    """

    members: PieceMembers
    causal: bool
    summed: ClassVar[bool] = True

    def __call__(self, rows: Rows) -> Float[Tensor, "1 head piece twice"]:
        """The sums over the queries of a block: shares, then multiples."""
        attention = rows.attention
        sources, targets, per_share = rows.block.once(self._weights)
        to_pieces = (attention.flatten(1, 2) @ targets).unflatten(1, attention.shape[1:3])
        return (sources @ torch.cat([to_pieces, to_pieces * per_share], dim=-1)).sum(0, keepdim=True)

    def _weights(self, block: BlockIndex) -> tuple[Tensor, Tensor, Tensor]:
        """[example, 1, piece, query], [example, key, piece], and [example, 1, query, piece]."""
        members, share = (values[block.examples] for values in self.shares(block.batch))
        share = share[:, None, block.queries]
        per_share = torch.where(share > 0, 1 / share.where(share > 0, 1), 0)
        return members[:, None, block.queries].mT, members[:, block.keys], per_share

    def shares(self, batch: Batch) -> tuple[Float[Tensor, "example token piece"], Float[Tensor, "example query piece"]]:
        """1 for the tokens of each piece; its share of the tokens that each query sees."""
        members = self.members(batch)
        positions = torch.arange(1, members.shape[1] + 1, device=members.device)[:, None]
        seen = positions if self.causal else batch.lengths[:, None, None]
        return members, (members.cumsum(1) if self.causal else members.sum(1, keepdim=True).expand_as(members)) / seen


@dataclass
class PairAttention:
    """One of the two numbers of `PiecePairSums`, whose cases are the queries that see a token of the other piece."""

    VARIABLE: Variable
    observe: PiecePairSums

    def finish(self, observed: Float[Tensor, "1 head piece twice"], batch: Batch) -> Values:
        """The sums of the batch."""
        members, share = self.observe.shares(batch)
        cases = (members.mT @ (share > 0).to(members)).sum(0, keepdim=True).round().long()
        return Values(observed.chunk(2, dim=-1)[NAMES.index(self.VARIABLE.name)], cases, resampled=False)


def pair_measures(names: tuple[str, ...], members: PieceMembers, *, causal: bool) -> list[Measure]:
    """The measures of the pieces of a small vocabulary."""
    observe, measures = PiecePairSums(members, causal), list[Measure]()
    for number in (STUDY.labels[name] for name in NAMES):
        coords = dict.fromkeys(("from_piece", "piece"), names)
        label = Variable(number.name, number.what, number.unit, STUDY.source, {**coords}, "tokens")
        measures.append(PairAttention(label, observe))
    return measures
