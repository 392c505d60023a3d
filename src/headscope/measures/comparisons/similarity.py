"""Cosine similarity of two models' attention maps, as a cosine from 0 to 1.

Kovaleva et al. 2019, section 4.3 (Figure 5): the cosine of the flattened L x L maps of a head. The released code
flattens maps that are padded to 200 tokens: see `padded_similarity`. Here padding counts for nothing.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Batch, Rows, Values


def observe(first: Rows, second: Rows) -> Float[Tensor, "example head 3"]:
    """The products of the block's real rows, summed; for later queries of the same examples this is added up."""
    return (products(first, second) @ first.block.real_queries[..., None]).squeeze(-1)


def finish(observed: Float[Tensor, "example head 3"], batch: Batch) -> Values:
    """The cosine of each example; heads of all layers stand in a row."""
    return Values(cosine(observed), batch.lengths > 0)


def products(first: Rows, second: Rows) -> Float[Tensor, "example head 3 query"]:
    """For each row, the sum of the products of both models' attention, and of the squares of each."""
    return torch.stack([torch.linalg.vecdot(first.attention, second.attention), first.squares, second.squares], dim=-2)


def cosine(summed: Float[Tensor, "example head 3"]) -> Float[Tensor, "example head"]:
    """The cosine of two maps from the sums of `products` over their rows."""
    both, one, other = summed.unbind(-1)
    return (both / (one * other).sqrt()).clamp(max=1)
