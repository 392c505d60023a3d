"""Attention to the previous, the same and the next token, as a share of a token's attention.

Clark et al. 2019, section 3.1. The mean of A[i, i + o] over the queries i for which i + o is in the sequence.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, BlockIndex, Rows, Values
from headscope.results.variables import Variable
from headscope.results.vocabulary import OFFSETS

VARIABLE = Variable(
    name="attention_offset",
    long_name="attention to the token at each offset",
    units="share of attention",
    source="Clark et al. 2019, section 3.1",
    coords={"offset": OFFSETS},
)


def observe(rows: Rows) -> Float[Tensor, "example head offset"]:
    """The attention at each offset, summed over the queries that have a real token there."""
    keys, real = rows.block.once(_neighbours)
    return (rows.attention.gather(-1, keys.expand(*rows.attention.shape[:3], -1)) * real).sum(2)


def finish(observed: Float[Tensor, "example head offset"], batch: Batch) -> Values:
    """The mean over the queries that have the offset; one-token examples have no neighbours."""
    queries = batch.lengths[:, None] - torch.tensor(OFFSETS, device=observed.device).abs()
    return Values(observed / queries.clamp_min(1)[:, None], queries > 0)


def _neighbours(block: BlockIndex) -> tuple[Int[Tensor, "query offset"], Float[Tensor, "example 1 query offset"]]:
    """Where the block has the key at each offset from a query; 1 where query and key are real tokens, else 0."""
    real = block.batch.real
    queries = torch.arange(block.queries.start, block.queries.stop, device=real.device)[:, None]
    keys = queries + torch.tensor(OFFSETS, device=real.device)
    inside = keys.clamp(block.keys.start, block.keys.stop - 1)
    both = real[block.examples, queries] & real[block.examples, inside] & (keys == inside)
    return inside - block.keys.start, both[:, None].to(torch.float32)
