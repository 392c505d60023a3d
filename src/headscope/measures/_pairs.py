"""What measures of pairs of segments share: the sums of `encoding.pair_sums` over a block of attention."""

from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import BlockIndex, Rows
from headscope.encoding.pair_sums import SUMS


def sums(rows: Rows) -> Float[Tensor, "example head sum"]:
    """This block's part of the sums; zeros where the batch has no pair."""
    weights = rows.block.once(_weights)
    if weights is None:
        return rows.attention.new_zeros(*rows.attention.shape[:2], SUMS)
    return rows.attention.flatten(2) @ weights


def _weights(block: BlockIndex) -> Float[Tensor, "example query_key sum"] | None:
    if not block.batch.has_pairs:
        return None
    return block.batch.pair_sums.weights[block.examples, block.queries, block.keys].flatten(1, 2)
