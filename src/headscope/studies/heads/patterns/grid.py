"""Attention maps of any length as small grids of one size, read off the blocks of a pass.

A cell of the grid is a window of tokens by tokens: 1 token up to `SIZE` tokens, 2 up to twice as many, and so on,
so that a window never straddles two cells and blocks of rows can be added up. Its maximum and its mean stand side by
side: the maximum keeps a line of one token, which the mean would wash out. A map fills the upper left of its grid.

>>> attention = torch.eye(100).expand(1, 1, 100, 100)
>>> grid = pool(attention, torch.full((1, 100), 3))
>>> grid.shape, grid[0, 0, 0, 24, 24].item(), grid[0, 0, 1, 24, 24].item()
(torch.Size([1, 1, 6, 32, 32]), 1.0, 0.25)
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

SIZE = 32
LEAST_TOKENS, MOST_TOKENS = 4, 512
CHANNELS = ("maximum", "mean", "cls", "sep", "cell", "window")
CLS, SEP = 0, 1  # in `results.TOKEN_CLASSES`


def pool(
    attention: Float[Tensor, "example head query key"], token_class: Int[Tensor, "example token"]
) -> Float[Tensor, "example head channel row column"]:
    """The grids of whole maps; see `grids`."""
    return grids(pooled(attention, token_class), token_class)


def pooled(
    attention: Float[Tensor, "example head query key"],
    token_class: Int[Tensor, "example token"],
    start: int = 0,
    first_key: int = 0,
) -> Float[Tensor, "example head 2 row column"]:
    """The maximum and the sum of each cell over a block of rows of some maps; see `merged`.

    * `token_class`: those of the whole inputs; -1 for padding, which may hold anything as a query and 0 as a key.
    * `start`, `first_key`: the numbers of the block's first query and key; attention to other keys is 0.
    """
    real = token_class[:, start : start + attention.shape[2]] >= 0
    if not real.all():
        attention = attention * real[:, None, :, None]
    sides = windows(token_class)
    if len(set(sides)) == 1:
        return _pooled(attention, sides[0], start, first_key)
    cells = attention.new_empty(*attention.shape[:2], 2, SIZE, SIZE)
    for side in set(sides):
        chosen = torch.tensor([kind == side for kind in sides], device=attention.device)
        cells[chosen] = _pooled(attention[chosen], side, start, first_key)
    return cells


def merged(
    first: Float[Tensor, "example head 2 row column"], second: Float[Tensor, "example head 2 row column"]
) -> Float[Tensor, "example head 2 row column"]:
    """Join the cells of two blocks of rows of the same maps, as if `pooled` had read both at once."""
    return torch.stack([torch.maximum(first[:, :, 0], second[:, :, 0]), first[:, :, 1] + second[:, :, 1]], dim=2)


def grids(
    pooled: Float[Tensor, "example head 2 row column"], token_class: Int[Tensor, "example token"]
) -> Float[Tensor, "example head channel row column"]:
    """The channels `CHANNELS` of each map, 0 outside of it.

    * maximum, mean: of the attention in a cell.
    * cls, sep: 1 in the columns that hold such a token, as a key.
    * cell: the cell's number of queries by keys, as a share of a whole window; 0 outside of the map.
    * window: the attention that each key would get if all got the same, 1 / L.
    """
    tokens = _tokens_of_cells(token_class, windows(token_class))
    real = (tokens >= 0).sum(-1).to(pooled.dtype)
    cell = real[:, :, None] * real[:, None, :]
    lengths = real.sum(-1)[:, None, None]
    columns = [(tokens == number).any(-1)[:, None, :] & (real > 0)[:, :, None] for number in (CLS, SEP)]
    largest = cell.amax((-1, -2), keepdim=True)
    shared = torch.stack(
        [*(column.to(pooled.dtype) for column in columns), cell / largest, (cell > 0) / lengths], dim=1
    )
    mean = pooled[:, :, 1:] / cell.clamp(min=1)[:, None, None]
    heads = pooled.shape[1]
    return torch.cat([pooled[:, :, :1], mean, shared[:, None].expand(-1, heads, -1, -1, -1)], dim=2)


def windows(token_class: Int[Tensor, "example token"]) -> list[int]:
    """The side of a cell of each example, in tokens."""
    return [max(1, -(-length // SIZE)) for length in (token_class >= 0).sum(-1).tolist()]


def _pooled(
    attention: Float[Tensor, "example head query key"], side: int, start: int, first_key: int
) -> Float[Tensor, "example head 2 row column"]:
    """Pool a block of rows of maps whose cells have sides of `side` tokens; see `pooled`."""
    examples, heads, queries, _ = attention.shape
    lead = start % side
    first, rows = min(start // side, SIZE), -(-(lead + queries) // side)  # beyond the grid there is padding alone
    keys = side * SIZE - first_key - attention.shape[3]
    attention = pad(attention, (first_key, keys, lead, rows * side - queries - lead))
    windowed = attention.reshape(examples, heads, rows, side, -1)  # [example, head, row, query in row, key]
    both = torch.stack([windowed.amax(3), windowed.sum(3)], dim=2)
    both = both.reshape(
        examples, heads, 2, rows, SIZE, side
    )  # [example, head, maximum or sum, row, column, key in column]
    both = torch.stack([both[:, :, 0].amax(-1), both[:, :, 1].sum(-1)], dim=2)[:, :, :, : SIZE - first]
    return pad(both, (0, 0, first, SIZE - first - both.shape[3]))


def _tokens_of_cells(
    token_class: Int[Tensor, "example token"], sides: Sequence[int]
) -> Int[Tensor, "example cell place"]:
    """The classes of the tokens of each cell of a side; -1 where there is none."""
    examples, most = len(sides), max(sides)
    tokens = token_class.new_full((examples, SIZE, most), -1)
    for number, side in enumerate(sides):
        held = token_class[number, : side * SIZE]
        tokens[number, :, :side] = pad(held, (0, side * SIZE - len(held)), value=-1).reshape(
            SIZE, side
        )  # [cell, place]
    return tokens
