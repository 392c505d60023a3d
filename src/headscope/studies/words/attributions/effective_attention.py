"""Effective attention: the part of a head's attention that its values let through.

Brunner et al. 2020, section 3: of a row of attention, the part in the left null space of T, the values as the head
moves them, adds up to 0. A null space is there wherever an input has more tokens than a head is wide.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.capture.last_layer_rows import weight
from headscope.capture.projections import Projections
from headscope.studies.words.attributions.descent import LayerPass

Maps = Float[Tensor, "example head query key"]


def effective(layer: LayerPass, projections: Projections, real: Bool[Tensor, "example token"]) -> Maps:
    """The effective attention of each head: each row on the orthogonal complement of the left null space of T.

    Products with T are those of the whole attention. Rows need no longer be positive, nor sum to 1.

    * `real`: mask of the tokens without padding.
    """
    return projected(layer.attention, moved(layer, projections, real))


def moved(
    layer: LayerPass, projections: Projections, real: Bool[Tensor, "example token"]
) -> Float[Tensor, "example head key head_width"]:
    """What the head moves, T = X W_V W_O, rotated into head_width numbers: inner products stay the same.

    0 for padding.
    """
    # [head, head_width, width]
    outward = weight(projections.output).unflatten(1, (projections.heads, projections.width)).permute(1, 2, 0)
    left, sizes, _right = torch.linalg.svd(outward.double(), full_matrices=False)
    return layer.values.double() @ (left * sizes[:, None]) * real[:, None, :, None]


def projected(attention: Maps, vectors: Float[Tensor, "example head key width"]) -> Maps:
    """Each row of attention on the space that the columns of `vectors` span.

    Directions that are smaller than the rounding of single precision do not count.

    >>> rows, vectors = torch.tensor([[[[0.5, 0.25, 0.25]]]]), torch.tensor([[[[0.0], [1.0], [1.0]]]])
    >>> projected(rows, vectors).tolist()
    [[[[0.0, 0.25, 0.25]]]]
    """
    basis, sizes, _ = torch.linalg.svd(vectors.double(), full_matrices=False)
    least = max(vectors.shape[-2:]) * torch.finfo(torch.float32).eps
    basis = basis * (sizes > least * sizes.amax(-1, keepdim=True).clamp_min(1e-300))[..., None, :]
    return (attention.double() @ basis @ basis.mT).to(attention.dtype)


def effective_share(attention: Maps, part: Maps, real: Bool[Tensor, "example token"]) -> Float[Tensor, "example head"]:
    """The squared length of the effective part of a row by that of the row: mean over queries."""
    share = part.square().sum(-1) / attention.square().sum(-1).clamp_min(1e-30)
    return (share * real[:, None]).sum(-1) / real.sum(-1, keepdim=True)


def effective_correlation(
    attention: Maps, part: Maps, real: Bool[Tensor, "example token"]
) -> Float[Tensor, "example head"]:
    """Pearson's correlation of attention and its effective part over pairs of tokens; NaN where one is constant."""
    cells = (real[:, :, None] & real[:, None])[:, None].double()
    number = cells.sum((-1, -2))

    def centred(maps: Maps) -> Maps:
        return (maps.double() - ((maps * cells).sum((-1, -2)) / number)[..., None, None]) * cells

    first, second = centred(attention), centred(part)
    lengths = (first.square().sum((-1, -2)) * second.square().sum((-1, -2))).sqrt()
    return torch.where(lengths > 1e-12, (first * second).sum((-1, -2)) / lengths, torch.nan)
