"""Attention of separators to separators, as a share of a separator's attention.

Clark et al. 2019, section 3.2 (Figure 2, bottom). As `attention_to` for the class sep, with
separators as the only queries. The released code always divides by 2, here it is by the number of separators.
"""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import received
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="sep_to_sep",
    long_name="attention from separators to separators",
    units="share of attention",
    source="Clark et al. 2019, section 3.2",
)


observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """The separators' share; examples without a separator are not valid."""
    separators = batch.query_groups[:, 1, :, None]  # example token 1
    count = separators.sum((1, 2))
    share = (observed[:, :, 1] @ separators).squeeze(-1) / count.clamp_min(1)[:, None]
    return Values(share, count > 0)
