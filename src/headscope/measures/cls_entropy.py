"""Entropy of the attention of [CLS], in nats.

Clark et al. 2019, section 3.3 (Figure 4, bottom). As `entropy`, for the query [CLS] alone.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.batch import Batch, Rows, Values
from headscope.results.variables import Variable

VARIABLE = Variable(
    name="cls_entropy",
    long_name="entropy of attention from [CLS]",
    units="nats",
    source="Clark et al. 2019, section 3.3",
)


def observe(rows: Rows) -> Float[Tensor, "example head key"]:
    """The attention of [CLS] to each key; zero where [CLS] is not in the block."""
    return rows.received[:, :, 2]


def finish(observed: Float[Tensor, "example head key"], batch: Batch) -> Values:
    """The entropy of that row; examples without [CLS] are not valid."""
    return Values(torch.special.entr(observed).sum(-1), batch.query_groups[:, 2].sum(-1) == 1)
