"""Attention to the token at each distance up to eight, as a share of a token's attention.

For models with a small vocabulary, such as protein models, whose heads look several residues away. The mean of
A[i, i + d] over the queries i for which i + d is in the sequence (Clark et al. 2019, section 3.1, for -1 and 1).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.results.variables import Variable

FURTHEST = 8
VARIABLE = Variable(
    name="attention_distance",
    long_name="attention to the token at each distance",
    units="share of attention",
    source="after Clark et al. 2019, section 3.1",
    coords={"from_query": tuple(range(-FURTHEST, FURTHEST + 1))},
)


def observe(rows: Rows) -> Float[Tensor, "example head distance"]:
    """The attention at each distance, summed over the real queries; 0 where the sequence has no key there."""
    device, last = rows.attention.device, rows.batch.real.shape[1] - 1
    keys = torch.arange(rows.queries.start, rows.queries.stop, device=device)[:, None] + _distances(device)
    inside = ((keys >= 0) & (keys <= last)) * rows.block.real_queries[..., None]  # [example, 1, query, distance]
    return (rows.gather(keys.clamp(0, last)) * inside).sum(2)


def finish(observed: Float[Tensor, "example head distance"], batch: Batch) -> Values:
    """The mean over the queries that have the distance; short examples lack the long ones."""
    queries = batch.lengths[:, None] - _distances(observed.device).abs()
    return Values(observed / queries.clamp_min(1)[:, None], queries > 0)


def _distances(device: torch.device) -> Int[Tensor, " distance"]:
    return torch.arange(-FURTHEST, FURTHEST + 1, device=device)
