"""Entropy of the attention of a token, in nats.

Clark et al. 2019, section 3.3 (Figure 4). The mean over queries of -sum_j A log A, with 0 log 0 = 0;
the released code smooths the probabilities first, here they are as they are.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="entropy", long_name="entropy of attention", units="nats", source="Clark et al. 2019, section 3.3"
)


def observe(rows: Rows) -> Float[Tensor, "example head"]:
    """The entropy of each real query of the block, summed."""
    return rows.sum_of_real(rows.entropy)


def finish(observed: Float[Tensor, "example head"], batch: Batch) -> Values:
    """The mean over queries."""
    return Values(observed / batch.lengths[:, None], batch.lengths > 0)
