"""The two probes of Hewitt and Manning 2019 (section 2), for many spaces (layers) at a time.

Each space has a linear map B of its own: `maps[space, width, rank]`.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Projected = Float[Tensor, "space sentence word rank"]


def project(states: Float[Tensor, "space sentence word width"], maps: Float[Tensor, "space width rank"]) -> Projected:
    """The vectors Bh of all words."""
    # [space, sentence and word, width] @ [space, width, rank], then [space, sentence, word, rank]
    return torch.bmm(states.flatten(1, 2), maps).unflatten(1, states.shape[1:3])


def distances(projected: Projected) -> Float[Tensor, "space sentence word other"]:
    """Squared distances |B(h_i - h_j)|^2 between the words of each sentence.

    >>> distances(torch.tensor([[[[0.0, 1.0], [2.0, 1.0]]]]))[0, 0].tolist()
    [[0.0, 4.0], [4.0, 0.0]]
    """
    norms = depths(projected)
    return (norms[..., :, None] + norms[..., None, :] - 2 * projected @ projected.mT).clamp_min(0)


def depths(projected: Projected) -> Float[Tensor, "space sentence word"]:
    """Squared norms |Bh|^2 of the words."""
    return projected.square().sum(-1)


def distance_loss(
    projected: Projected, gold: Float[Tensor, "sentence word other"], real: Bool[Tensor, "sentence word"]
) -> Float[Tensor, "space sentence"]:
    """The sum over pairs of words of |gold - predicted|, over the square of the sentence's length (equation 2)."""
    pairs = real[:, :, None] & real[:, None, :]
    return ((distances(projected) - gold).abs() * pairs).sum((-1, -2)) / real.sum(-1).square()


def depth_loss(
    projected: Projected, gold: Float[Tensor, "sentence word"], real: Bool[Tensor, "sentence word"]
) -> Float[Tensor, "space sentence"]:
    """The mean over words of |gold - predicted| (section 2.3)."""
    return ((depths(projected) - gold).abs() * real).sum(-1) / real.sum(-1)
