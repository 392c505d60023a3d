"""Attention to the previous, the same and the next token, as a share of a token's attention.

Clark et al. 2019, section 3.1. The mean of A[i, i + o] over the queries i for which i + o is in the sequence.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch, Rows, Values
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
    return torch.stack([_diagonal_sum(rows, offset) for offset in OFFSETS], dim=-1)


def finish(observed: Float[Tensor, "example head offset"], batch: Batch) -> Values:
    """The mean over the queries that have the offset; one-token examples have no neighbours."""
    queries = batch.lengths[:, None] - torch.tensor(OFFSETS, device=observed.device).abs()
    return Values(observed / queries.clamp_min(1)[:, None], queries > 0)


def _diagonal_sum(rows: Rows, offset: int) -> Float[Tensor, "example head"]:
    column = rows.queries.start + offset
    diagonal = rows.attention.diagonal(column, -2, -1)  # example head query
    first = max(0, -column)
    real = rows.real_queries[:, :, first : first + diagonal.shape[-1]]
    return (diagonal.unsqueeze(-2) @ real)[..., 0, 0]
