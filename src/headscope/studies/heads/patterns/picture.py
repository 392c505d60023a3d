"""Grids as pictures: each map stretched over the whole grid, and scaled to its own maximum as one sees it."""

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.heads.patterns.grid import SIZE

Cells = Float[Tensor, "map row column"]
PerMap = Float[Tensor, "map 1 1"]


@dataclass(frozen=True)
class Pictures:
    """Maps that fill the grid, so that a line is a line at any length.

    * `cells`: the maximum of each cell of the grid, not stretched, over the `largest`; `inside`: 1 in cells of the map.
    * `maximum`, `mean`: of each cell, over the `largest` of the map; `root`: the square root of `maximum`.
    * `cls`, `sep`: 1 in the columns of these tokens.
    * `first`: 0 in columns that repeat the one before, as stretching makes them.
    * `length`: in tokens; `distance`: of the cell from the main diagonal, in tokens.
    """

    cells: Cells
    inside: Cells
    maximum: Cells
    mean: Cells
    root: Cells
    cls: Cells
    sep: Cells
    first: Float[Tensor, "map column"]
    largest: PerMap
    length: PerMap
    distance: Cells


def pictures(grids: Float[Tensor, "map channel row column"]) -> Pictures:
    """Stretch the maps of `grid.CHANNELS` over the whole grid, and scale each to its own maximum."""
    filled = (grids[:, -1, 0] > 0).sum(-1, keepdim=True)
    # [map, place]: the row or column of the grid under each row or column of the picture
    source = torch.arange(SIZE, device=grids.device) * filled // SIZE
    cell = (source[:, :, None] * SIZE + source[:, None]).flatten(1)[:, None].expand(-1, 2, -1)
    maximum, mean = grids[:, :2].float().flatten(2).gather(2, cell).unflatten(2, (SIZE, SIZE)).unbind(1)
    # the same in all rows of a map, whose first cell is always inside of it
    cls, sep = (grids[:, channel, 0].float().gather(1, source)[:, None].expand_as(mean) for channel in (2, 3))
    length = 1 / grids[:, -1, :1, :1].float()
    largest = maximum.amax((1, 2), keepdim=True).clamp(min=1e-9)
    first = (source.diff(dim=1, prepend=source[:, :1] - 1) > 0).to(maximum.dtype)
    distance = (offsets(grids.device) - SIZE + 1).abs() / SIZE * length
    cells, inside = grids[:, 0].float() / largest, (grids[:, -1] > 0).to(maximum.dtype)
    maximum, mean = maximum / largest, mean / largest
    return Pictures(cells, inside, maximum, mean, maximum.sqrt(), cls, sep, first, largest, length, distance)


def offsets(device: torch.device) -> Float[Tensor, "row column"]:
    """Offset of each cell from its row to its column, counted from the lower left corner."""
    position = torch.arange(SIZE, device=device)
    return position - position[:, None] + SIZE - 1


def along_diagonals(values: Cells, extra: int) -> Float[Tensor, "map offset"]:
    """The mean over each parallel to the main diagonal, as if each were longer by `extra` cells of 0."""
    # [map, cell] @ [cell, offset]
    return values.flatten(1) @ membership(values.device, extra)


@cache
def membership(device: torch.device, extra: int | None = None) -> Float[Tensor, "cell offset"]:
    """1 where a cell lies on a parallel to the main diagonal; with `extra`, over the parallel's cells plus `extra`."""
    member = torch.nn.functional.one_hot(offsets(device).flatten(), 2 * SIZE - 1).float()
    return member if extra is None else member / (member.sum(0) + extra)


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
    positions = [maps.cls, maps.sep, torch.ones_like(root), maps.distance / maps.length, decay, maps.length.log() / 6]
    diagonals = along_diagonals(root, extra=2)[:, offsets(root.device)]
    lines = [root.mean(1, keepdim=True), diagonals, root.mean(2, keepdim=True)]
    picture = [maps.maximum, maps.mean, root, maps.mean.sqrt()]
    planes = [plane.expand_as(root) for plane in (*picture, *scale, *positions, *lines)]
    return torch.stack(planes, dim=1)
