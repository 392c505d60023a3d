"""The longest principal axes of vectors, in which the Hessian of a classifier is near diagonal."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.layers.features import Vectors

MOST_AXES = 128


@dataclass(frozen=True)
class PrincipalAxes:
    """Orthogonal axes in each space, and mean squares of vectors: `energy` along each axis, `rest` along all others."""

    axes: Float[Tensor, "space dim axis"]
    energy: Float[Tensor, "space 1 axis"]
    rest: Float[Tensor, "space 1 1"]

    def divide(
        self, slope: Float[Tensor, "space column dim"], spread: Float[Tensor, "space column 1"], penalty: float | Tensor
    ) -> Float[Tensor, "space column dim"]:
        """Divide what lies along each axis by the spread times its energy plus the penalty."""
        along, across = slope @ self.axes, 1 / (spread * self.rest + penalty)
        more = 1 / (spread * self.energy + penalty) - across
        return torch.baddbmm(slope * across, along * more, self.axes.mT)


def principal_axes(given: Vectors, most: int = MOST_AXES) -> PrincipalAxes:
    """Find the longest principal axes of centred vectors, about, by a random sketch (Halko et al. 2011, section 4.5).

    >>> given = torch.tensor([[[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]])
    >>> principal_axes(given).energy.round(decimals=3).tolist()
    [[[0.5, 4.5]]]
    """
    cases, dims = given.shape[1:]
    sketch = torch.randn(dims, min(most, dims), generator=torch.Generator().manual_seed(0)).to(given)
    basis = torch.linalg.qr(given.mT @ (given @ sketch)).Q
    along = given @ basis
    energy, turn = torch.linalg.eigh(along.mT @ along / cases)
    energy = energy.clamp_min(0)[:, None]  # [space, 1, axis]
    total = given.square().sum((1, 2))[:, None, None] / cases
    rest = (total - energy.sum(-1, keepdim=True)).clamp_min(0) / max(1, dims - basis.shape[-1])
    return PrincipalAxes(basis @ turn, energy, rest)
