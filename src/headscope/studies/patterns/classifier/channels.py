"""Input channels of the convolutions: the picture, its scale, the position of a cell, and means over its lines."""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.patterns.classifier.picture import Pictures, along_diagonals, offsets

N_CHANNELS = 15


def channels(maps: Pictures) -> Float[Tensor, "map 15 row column"]:
    """The channels of each cell.

    * the maximum and the mean, and their square roots;
    * their logarithms, in relation to even attention;
    * the columns of [CLS] and of [SEP]; ones;
    * the distance to the main diagonal, as a share of the length and as a decay by tokens; the length;
    * means of the first square root, over the cell's column, over its parallel to the diagonal, and over its row.
    """
    root = maps.root
    absolute = maps.largest * maps.length
    scale = [torch.log1p(maps.maximum * absolute) / 5, torch.log1p(maps.mean * absolute) / 5]
    decay = torch.exp(-maps.distance / 2)
    place = [maps.cls, maps.sep, torch.ones_like(root), maps.distance / maps.length, decay, maps.length.log() / 6]
    diagonals = along_diagonals(root, extra=2)[:, offsets(root.device)]
    lines = [root.mean(1, keepdim=True), diagonals, root.mean(2, keepdim=True)]
    picture = [maps.maximum, maps.mean, root, maps.mean.sqrt()]
    return torch.stack([each.expand_as(root) for each in (*picture, *scale, *place, *lines)], dim=1)
