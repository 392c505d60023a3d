"""What the classifier sees of a grid: the map as a picture scaled to its own maximum, its scale, and where it is.

The cells that a map fills are stretched over the whole grid first, so that a line is a line at any length.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.patterns.grid import SIZE

N_CHANNELS = 15


def channels(grids: Float[Tensor, "map channel row column"]) -> Float[Tensor, "map 15 row column"]:
    """The maps of `grid.CHANNELS` as the classifier's input.

    * the maximum and the mean of a cell, over the map's maximum, and their square roots;
    * their logarithms, in relation to even attention;
    * the columns of [CLS] and of [SEP]; ones;
    * the distance to the main diagonal, as a share of the length and as a decay by tokens; the length;
    * means of the first square root, over the cell's column, over its parallel to the diagonal, and over its row.
    """
    maximum, mean, cls, sep, _, window = _stretched(grids).unbind(1)
    length = 1 / window[:, :1, :1]
    largest = maximum.amax((1, 2), keepdim=True).clamp(min=1e-9)
    distance = _distance(grids.device) * length
    root = (maximum / largest).sqrt()
    shown = [maximum / largest, mean / largest, root, (mean / largest).sqrt()]
    scale = [torch.log1p(maximum * length) / 5, torch.log1p(mean * length) / 5]
    ones = torch.ones_like(root)
    place = [cls, sep, ones, distance / length, torch.exp(-distance / 2), length.log() / 6 * ones]
    lines = [root.mean(1, keepdim=True), _along_diagonals(root), root.mean(2, keepdim=True)]
    return torch.stack([each.expand_as(root) for each in (*shown, *scale, *place, *lines)], dim=1)


def _stretched(grids: Float[Tensor, "map channel row column"]) -> Float[Tensor, "map channel row column"]:
    filled = (grids[:, -1, 0] > 0).sum(-1, keepdim=True)
    source = torch.arange(SIZE, device=grids.device) * filled // SIZE
    n_channels = grids.shape[1]
    rows = source[:, None, :, None].expand(-1, n_channels, -1, SIZE)
    columns = source[:, None, None].expand(-1, n_channels, SIZE, -1)
    return grids.gather(2, rows).gather(3, columns)


def _distance(device: torch.device) -> Float[Tensor, "row column"]:
    place = torch.arange(SIZE, device=device) / SIZE
    return (place[:, None] - place).abs()


def _along_diagonals(values: Float[Tensor, "map row column"]) -> Float[Tensor, "map row column"]:
    """The mean of the values on the same parallel to the main diagonal; short ones count as if longer by two cells."""
    place = torch.arange(SIZE, device=values.device)
    offset = place - place[:, None] + SIZE - 1
    member = torch.nn.functional.one_hot(offset.flatten(), 2 * SIZE - 1).to(values.dtype)
    means = values.flatten(1) @ (member / (member.sum(0) + 2))
    return means[:, offset]
