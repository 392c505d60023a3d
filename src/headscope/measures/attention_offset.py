"""Attention to the previous, the same and the next token, as a share of a token's attention.

Clark et al. 2019, section 3.1. The mean of A[i, i + o] over the queries i for which i + o is in the sequence.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
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
    return rows.at_offsets


def finish(observed: Float[Tensor, "example head offset"], batch: Batch) -> Values:
    """The mean over the queries that have the offset; one-token examples have no neighbours."""
    # Made where it is: what comes from the host waits for all that a GPU has to do.
    offsets = torch.arange(OFFSETS[0], OFFSETS[-1] + 1, device=observed.device)
    queries = batch.lengths[:, None] - offsets.abs()
    return Values(observed / queries.clamp_min(1)[:, None], queries > 0)
