"""The rows of all layers of a batch whose attention was fused: what measures read of `Rows`, without the map."""

from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.capture.fused_statistics import FusedStatistics, NeedsMap
from headscope.encoding.batch import FIRST_OF_TEXT, QUERY_GROUPS, Batch, BlockIndex
from headscope.encoding.pair_sums import SUMS

# Of `FusedStatistics.groups`.
PADDING = 3


@dataclass(frozen=True)
class FusedRows:
    """All rows of a batch at once, as `Rows`, heads of all layers in a row; `NeedsMap` for a measure of maps."""

    batch: Batch
    statistics: FusedStatistics

    @cached_property
    def block(self) -> BlockIndex:
        """The block of all examples and queries."""
        return self.batch.block(slice(0, self.batch.real.shape[0]), slice(0, self.batch.real.shape[1]))

    @cached_property
    def entropy(self) -> Float[Tensor, "example head query"]:
        """The entropy of each row, in nats."""
        return self.statistics.read["entropy"]

    @cached_property
    def received(self) -> Float[Tensor, "example head group key"]:
        """The attention that each key gets, summed over each of `QUERY_GROUPS`."""
        return self._received[:, :, : len(QUERY_GROUPS)]

    @cached_property
    def from_text(self) -> Float[Tensor, "example head key"]:
        """The attention that each key gets from the queries that are not special."""
        return self._received[:, :, len(QUERY_GROUPS)]

    @cached_property
    def at_offsets(self) -> Float[Tensor, "example head offset"]:
        """The attention at each of `OFFSETS`, summed over queries."""
        return self.statistics.read["at_offsets"].sum(-1)

    @cached_property
    def linked(self) -> Float[Tensor, "link_row head"]:
        """The attention of each link."""
        return self.statistics.read["linked"]

    @cached_property
    def to_sink(self) -> Float[Tensor, "example head query"]:
        """The attention of each query to the sink."""
        return self.statistics.read["to_sink"]

    @cached_property
    def pair_sums(self) -> Float[Tensor, "example head sum"]:
        """The sums of `encoding.pair_sums`; zeros where the batch has no pair."""
        return torch.cat(self.statistics.weighed, dim=1).sum(-1) if self.batch.has_pairs else self.zeros(SUMS)

    def zeros(self, number: int) -> Float[Tensor, "example head number"]:
        """This many zeros for each head of each example."""
        return self.entropy.new_zeros(*self.entropy.shape[:2], number)

    def sum_of_real(self, values: Float[Tensor, "example head query"]) -> Float[Tensor, "example head"]:
        """The sum of a value of each query over the real ones."""
        return (values * self.block.real_queries).sum(-1)

    @cached_property
    def _received(self) -> Float[Tensor, "example head 4 key"]:
        return self.statistics.read["received"]

    def __getattr__(self, name: str) -> NoReturn:
        raise NeedsMap(f"a measure reads '{name}' of maps")


def statistics_of(batch: Batch, heads: tuple[int, ...]) -> FusedStatistics:
    """The statistics that are to be read of a batch, by a model with this many heads in each layer."""
    kind = batch.token_class
    groups = torch.where(kind >= FIRST_OF_TEXT, 0, torch.where(kind < 0, PADDING, 2 - kind))
    # [example, sum, query, key]
    weights = batch.pair_sums.weights.movedim(-1, 1).contiguous() if batch.has_pairs else None
    return FusedStatistics(groups.to(torch.int32), batch.sink.to(torch.int32), batch.links, heads, weights)
