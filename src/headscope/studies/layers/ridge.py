"""Ridge regression with several penalties in all spaces, in closed form."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.layers.features import Vectors


def ridge(
    given: Vectors, values: Float[Tensor, " case"], penalties: Sequence[float]
) -> Float[Tensor, "space penalty dim1"]:
    """Weights of linear regressions on centred vectors; the last is the intercept, without a penalty.

    * `penalties`: half of each is the cost of the sum of squares of the weights, beside half of the squared errors.
    """
    energy, axes = torch.linalg.eigh(given.mT @ given)
    products = (values @ given)[:, None] @ axes  # [space, 1, axis]
    added = energy.new_tensor(penalties)[:, None]
    # On principal axes all equations are apart; [space, penalty, dim]
    weights = products / (energy.clamp_min(0)[:, None] + added) @ axes.mT
    return torch.cat([weights, values.mean().expand(*weights.shape[:2], 1)], dim=-1)
