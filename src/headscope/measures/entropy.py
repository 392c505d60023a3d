"""Entropy of the attention of a token, in nats.

Clark et al. 2019, section 3.3 (Figure 4). The mean over queries of -sum_j A log A, with 0 log 0 = 0;
the released code smooths the probabilities first, here they are as they are.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch, Rows, Values
from headscope.measures._variable import Variable

VARIABLE = Variable(
    name="entropy",
    long_name="entropy of attention",
    units="nats",
    source="Clark et al. 2019, section 3.3",
)


def observe(rows: Rows) -> Float[Tensor, "example head"]:
    """The entropy of each real query of the block, summed."""
    return (_by_query(rows).unsqueeze(-2) @ rows.real_queries)[..., 0, 0]


def finish(observed: Float[Tensor, "example head"], batch: Batch) -> Values:
    """The mean over queries."""
    return Values(observed / batch.lengths[:, None], batch.lengths > 0)


def _by_query(rows: Rows) -> Float[Tensor, "example head query"]:
    """-sum_j A log A. With the scores s at hand log A = s + log max A: one logarithm a row instead of one a cell."""
    attention, scores = rows.attention, rows.scores
    if scores is None:
        return torch.special.entr(attention).sum(-1)
    return -torch.linalg.vecdot(attention, scores) - attention.amax(-1).log()
