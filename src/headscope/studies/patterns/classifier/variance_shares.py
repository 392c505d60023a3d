"""Shares of a map's variance that its columns and its parallels to the diagonal explain: a pattern is one of both.

Each cell is taken as the sum of a mean, an effect of its row, of its column, of its parallel to the main diagonal, and
a rest (analysis of variance). Columns explain a vertical map, parallels a diagonal one; a heterogeneous map is rest.
The cells are those of the grid, not stretched, so that a line of a short map is as sharp as one of a long map.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.patterns.classifier.grid import SIZE
from headscope.studies.patterns.classifier.picture import Cells, Pictures, membership

# Of the cells: low powers show what is pale beside one dark cell.
POWERS = (1.0, 0.5, 0.25)
N_SHARES = 18 * len(POWERS)
# Parallels at most this number of cells from the main diagonal are near it; beyond this share of the map they are far.
NEAR, FAR = 2, 1 / 6

PerMap = Float[Tensor, " map"]


def variance_shares(maps: Pictures) -> Iterator[PerMap]:
    """Eighteen numbers for each power of the cells."""
    member = membership(maps.cells)
    for power in POWERS:
        yield from _shares(maps.cells.pow(power) * maps.inside, maps.inside, member)


def _shares(cells: Cells, inside: Cells, member: Float[Tensor, "cell offset"]) -> Iterator[PerMap]:
    """The explained shares, the strongest columns and parallels, and their effects beside the rest."""
    side = inside[:, 0].sum(1)
    centred = (cells - (cells.sum((1, 2)) / side**2)[:, None, None]) * inside
    total = centred.square().sum((1, 2)).clamp(min=1e-6)
    row, column = (centred.sum(axis) / side[:, None] for axis in (2, 1))
    parallel, counts = _parallels((centred - row[:, :, None] - column[:, None]) * inside, inside, member)

    of_columns = column.square() * (side / total)[:, None]
    of_parallels = parallel.square() * counts / total[:, None]
    explained = torch.stack([row.square().sum(1) * side / total, of_columns.sum(1), of_parallels.sum(1)])
    rest = (1 - explained.sum(0)).clamp(min=0)
    yield from (*explained, rest)

    first, second, _, fourth = (of_columns * (column > 0)).topk(4, dim=1).values.unbind(1)
    yield from (first, second, fourth, of_columns[:, 0] * (column[:, 0] > 0))

    near, far = _near_and_far(side)
    dark = of_parallels * (parallel > 0)
    yield from ((dark * near).sum(1), (dark * near).amax(1), (dark * far).amax(1))

    deviation = (total / side**2).sqrt()
    noise = deviation * rest.sqrt()
    effects = [column.amax(1), (parallel * near).amax(1), (parallel * far).amax(1)]
    yield from (deviation, noise, *effects, effects[0] / (noise + 0.02), effects[1] / (noise + 0.02))


def _parallels(
    cells: Cells, inside: Cells, member: Float[Tensor, "cell offset"]
) -> tuple[Float[Tensor, "map offset"], Float[Tensor, "map offset"]]:
    """Mean of the cells of each parallel to the main diagonal, and the number of these cells."""
    counts = inside.flatten(1) @ member  # [map, cell] @ [cell, offset]
    return cells.flatten(1) @ member / counts.clamp(min=1), counts


def _near_and_far(side: PerMap) -> tuple[Float[Tensor, "1 offset"], Float[Tensor, "map offset"]]:
    """1 for the parallels that are near the main diagonal, and 1 for those that are far from it."""
    apart = (torch.arange(2 * SIZE - 1, device=side.device) - SIZE + 1).abs()[None]
    far = apart > (side * FAR).clamp(min=2 * NEAR)[:, None]
    return (apart <= NEAR).to(side.dtype), far.to(side.dtype)
