"""Entropy of the attention of [CLS], in nats.

Clark et al. 2019, section 3.3 (Figure 4, bottom). As `entropy`, for the query [CLS] alone.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Values
from headscope.measures._shared import received
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="cls_entropy",
    long_name="entropy of attention from [CLS]",
    units="nats",
    source="Clark et al. 2019, section 3.3",
)


observe = received


def finish(observed: Float[Tensor, "example head group key"], batch: Batch) -> Values:
    """The entropy of that row; examples without [CLS] are not valid."""
    return Values(torch.special.entr(observed[:, :, 2]).sum(-1), batch.query_groups[:, 2].sum(-1) == 1)
