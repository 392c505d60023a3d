"""Attention that each token gets, for the measures that read only this: a pass observes it once for all of them."""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Rows


def received(rows: Rows) -> Float[Tensor, "example head group key"]:
    """The attention that each key gets from the queries of the block, summed over each of `batch.QUERY_GROUPS`."""
    return rows.received
