"""Jensen-Shannon divergence of two models' attention, in nats.

The divergence by which Clark et al. 2019, section 6, compare heads. The mean over queries of
H((p + q) / 2) - (H(p) + H(q)) / 2, where p and q are a query's attention in the two models: 0 where they are the
same, ln 2 where they have no token in common. Values below about 1e-6 are rounding.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values


def observe(first: Rows, second: Rows) -> Float[Tensor, "example head"]:
    """The divergence of each real query of the block, summed."""
    mixed = torch.special.entr((first.attention + second.attention) / 2).sum(-1)
    by_query = mixed - (first.entropy + second.entropy) / 2
    return first.sum_of_real(by_query)


def finish(observed: Float[Tensor, "example head"], batch: Batch) -> Values:
    """The mean over queries."""
    return Values((observed / batch.lengths[:, None]).clamp_min(0), batch.lengths > 0)
