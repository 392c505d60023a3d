"""Ridge regression with several penalties in all spaces, in closed form."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from headscope.studies.layers.features import Rotated


def ridge(
    vectors: Rotated, values: Float[Tensor, " case"], penalties: Sequence[float]
) -> Float[Tensor, "space penalty dim1"]:
    """Weights of linear regressions for vectors that are not rotated; the last is the intercept, without a penalty.

    * `penalties`: half of each is the cost of the sum of squares of the weights, beside half of the squared errors.
    """
    products = values @ vectors.values  # [space, axis]
    added = vectors.energy.new_tensor(penalties)[:, None].expand(-1, products.shape[-1]).clone()
    added[:, -1] = 0
    # On principal axes of centred vectors all equations are apart.
    return vectors.back(products[:, None] / (vectors.energy[:, None] + added))
