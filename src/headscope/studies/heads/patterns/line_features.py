"""Numbers of a map that say how its columns and its diagonals stand out: what an eye would judge a picture by.

Among them are the shares of a map's variance that columns and parallels to the diagonal explain. Each cell is taken as
the sum of a mean, an effect of its row, of its column, of its parallel to the main diagonal, and a rest (analysis of
variance). Columns explain a vertical map, parallels a diagonal one; a heterogeneous map is rest. The cells are those of
the grid, not stretched, so that a line of a short map is as sharp as one of a long map.
"""

from collections.abc import Iterator

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headscope.studies.heads.patterns.grid import SIZE
from headscope.studies.heads.patterns.picture import Cells, Pictures, along_diagonals, membership

# Of the cells: low powers show what is pale beside one dark cell.
POWERS = (1.0, 0.5, 0.25)
N_SHARES = 18 * len(POWERS)
# Parallels at most this number of cells from the main diagonal are near it; beyond this share of the map they are far.
NEAR, FAR = 2, 1 / 6

N_NUMBERS = 118 + N_SHARES
# Shares of the map's maximum from which a cell counts as visible.
VISIBLE = (0.05, 0.1, 0.2, 0.4)
# Half the widths of a band, in tokens, and those within which attention is counted.
WIDTHS = (0, 1, 2, 4)
REACHES = (1, 2, 4, 8)

PerMap = Float[Tensor, " map"]
Bands = Bool[Tensor, "map row column"]


def variance_shares(maps: Pictures) -> Iterator[PerMap]:
    """Eighteen numbers for each power of the cells."""
    member = membership(maps.cells.device)
    counts = maps.inside.flatten(1) @ member  # [map, cell] @ [cell, offset]
    for power in POWERS:
        yield from _shares(maps.cells.pow(power) * maps.inside, maps.inside, member, counts)


def _shares(
    cells: Cells, inside: Cells, member: Float[Tensor, "cell offset"], counts: Float[Tensor, "map offset"]
) -> Iterator[PerMap]:
    """The explained shares, the strongest columns and parallels, and their effects beside the rest.

    * `counts`: the number of cells of each parallel to the main diagonal.
    """
    side = inside[:, 0].sum(1)
    centred = (cells - (cells.sum((1, 2)) / side**2)[:, None, None]) * inside
    total = centred.square().sum((1, 2)).clamp(min=1e-6)
    row, column = (centred.sum(axis) / side[:, None] for axis in (2, 1))
    rests = (centred - row[:, :, None] - column[:, None]) * inside
    parallel = rests.flatten(1) @ member / counts.clamp(min=1)

    columns = column.square() * (side / total)[:, None]
    parallels = parallel.square() * counts / total[:, None]
    explained = torch.stack([row.square().sum(1) * side / total, columns.sum(1), parallels.sum(1)])
    rest = (1 - explained.sum(0)).clamp(min=0)
    yield from (*explained, rest)

    first, second, _, fourth = (columns * (column > 0)).topk(4, dim=1).values.unbind(1)
    yield from (first, second, fourth, columns[:, 0] * (column[:, 0] > 0))

    near, far = _near_and_far(side)
    dark = parallels * (parallel > 0)
    yield from ((dark * near).sum(1), (dark * near).amax(1), (dark * far).amax(1))

    deviation = (total / side**2).sqrt()
    noise = deviation * rest.sqrt()
    effects = [column.amax(1), (parallel * near).amax(1), (parallel * far).amax(1)]
    yield from (deviation, noise, *effects, effects[0] / (noise + 0.02), effects[1] / (noise + 0.02))


def _near_and_far(side: PerMap) -> tuple[Float[Tensor, "1 offset"], Float[Tensor, "map offset"]]:
    """1 for the parallels that are near the main diagonal, and 1 for those that are far from it."""
    apart = (torch.arange(2 * SIZE - 1, device=side.device) - SIZE + 1).abs()[None]
    far = apart > (side * FAR).clamp(min=2 * NEAR)[:, None]
    return (apart <= NEAR).to(side.dtype), far.to(side.dtype)


def numbers(maps: Pictures) -> Float[Tensor, "map number"]:
    """The numbers of each map, about logarithmic."""
    ordered = _sorted_columns(maps.maximum)
    median, quarter = ordered[:, SIZE // 2 - 1], ordered[:, SIZE // 4]
    features = [*_columns(maps, median, quarter), *_scale(maps)]
    bands = _bands_of(maps)
    for standing_out in (maps.maximum - median[:, None], maps.root - median.sqrt()[:, None]):
        features += [*_bands(maps, bands, standing_out.clamp(min=0)), *_parallels(maps, standing_out.clamp(min=0))]
    raw = torch.stack([*features, *_reach(maps, bands), *_rest(maps), *variance_shares(maps)], dim=1)
    return raw.sign() * torch.log1p(3 * raw.abs())


def _sorted_columns(cells: Cells) -> Cells:
    """The cells of each column in ascending order; numpy takes a seventh of torch's time for many short columns."""
    return torch.from_numpy(np.sort(cells.numpy(), axis=1)) if cells.device.type == "cpu" else cells.sort(1).values


def _columns(maps: Pictures, *quantiles: Float[Tensor, "map column"]) -> Iterator[PerMap]:
    """Each statistic of a column: its four largest values over columns (none twice), its mean, that of the first."""
    visible = [(maps.maximum > level).float().mean(1) for level in VISIBLE]
    statistics = [maps.maximum.mean(1), maps.root.mean(1), maps.mean.mean(1), *quantiles, *visible]
    for statistic in statistics:
        yield from (statistic * maps.first).topk(4, dim=1).values.unbind(1)
        yield from (statistic.mean(1), statistic[:, 0])


def _scale(maps: Pictures) -> Iterator[PerMap]:
    """Length of the map, its maximum, and the share of it that is visible."""
    length, largest, mean = maps.length[:, 0, 0], maps.largest[:, 0, 0], maps.maximum.mean((1, 2))
    yield from (length.log(), largest, largest * length / 10, mean, mean.log(), maps.maximum.std((1, 2)))


def _bands_of(maps: Pictures) -> dict[int, Bands]:
    """The cells near the main diagonal, by the half width of the band in tokens."""
    token = _token(maps)
    return {width: maps.distance <= (width + 0.01) * token for width in {*WIDTHS, *REACHES}}


def _bands(maps: Pictures, bands: dict[int, Bands], standing_out: Cells) -> Iterator[PerMap]:
    """Bands along the main diagonal: what a row has in them, how many rows, how much, against what is far, of all."""
    elsewhere = _mean(standing_out, maps.distance > torch.maximum(3 * _token(maps), maps.length / 6))
    total = standing_out.sum((1, 2)) + 1e-6
    for width in WIDTHS:
        band = standing_out * bands[width]
        strongest, dark = band.amax(2), band.sum((1, 2))
        mean = dark / bands[width].sum((1, 2)).clamp(min=1)
        yield from (strongest.mean(1), (strongest > 0.1).float().mean(1), mean, mean / (elsewhere + 0.01), dark / total)


def _parallels(maps: Pictures, standing_out: Cells) -> Iterator[PerMap]:
    """The strongest parallel close to the main diagonal, the strongest far from it, and their ratio."""
    along = along_diagonals(standing_out, extra=4)
    apart = (torch.arange(2 * SIZE - 1, device=along.device) - SIZE + 1).abs() / SIZE
    distance = apart * maps.length[:, 0]
    close = distance <= 3.03 * _token(maps)[:, 0]
    near, far = (along * close).amax(1), (along * ~close * (apart < 0.85)).amax(1)
    yield from (near, far, near / (far + 0.01))


def _reach(maps: Pictures, bands: dict[int, Bands]) -> Iterator[PerMap]:
    """Distance of attention, [CLS] apart: its mean, and the shares within bands, also in relation to even attention."""
    others = maps.mean * (1 - maps.cls)
    others = others / others.sum(2, keepdim=True).clamp(min=1e-9)
    yield (others * maps.distance / maps.length).sum(2).mean(1)
    for width in REACHES:
        share = (others * bands[width]).sum(2).mean(1)
        yield from (share, share / bands[width].float().mean((1, 2)))


def _rest(maps: Pictures) -> Iterator[PerMap]:
    """Attention outside columns and the main diagonal: its share, its largest cell, and the share that is visible."""
    rest = (maps.maximum - maps.maximum.mean(1, keepdim=True)).clamp(min=0) * (maps.distance > 2.02 * _token(maps))
    yield from (rest.sum((1, 2)) / maps.maximum.sum((1, 2)), rest.amax((1, 2)), (rest > 0.1).float().mean((1, 2)))


def _token(maps: Pictures) -> Float[Tensor, "map 1 1"]:
    """A token, or a cell's side where that is more, in tokens."""
    return (maps.length / SIZE).clamp(min=1)


def _mean(values: Cells, where: Float[Tensor, "map row column"]) -> PerMap:
    return (values * where).sum((1, 2)) / where.sum((1, 2)).clamp(min=1)
