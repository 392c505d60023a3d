"""The cosine of two attention maps from sums of products, which add up over blocks of rows."""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.encoding.batch import Rows


def products(one: Rows, other: Rows) -> Float[Tensor, "example head 3 query"]:
    """For each row, the sum of the products of both models' attention, and of the squares of each."""
    return torch.stack([torch.linalg.vecdot(one.attention, other.attention), one.squares, other.squares], dim=-2)


def cosine(summed: Float[Tensor, "example head 3"]) -> Float[Tensor, "example head"]:
    """The cosine of two maps from the sums of `products` over their rows."""
    both, one, other = summed.unbind(-1)
    return (both / (one * other).sqrt()).clamp(max=1)
