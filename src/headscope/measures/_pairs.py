"""What measures of pairs of segments share: the sums of `encoding.pair_sums` over a block of attention."""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Rows


def sums(rows: Rows) -> Float[Tensor, "example head sum"]:
    """This block's part of the sums; zeros where the batch has no pair."""
    return rows.pair_sums
