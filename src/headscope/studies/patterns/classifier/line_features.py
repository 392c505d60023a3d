"""Numbers of a map that say how its columns and its diagonals stand out: what an eye would judge a picture by."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.patterns.classifier.grid import SIZE
from headscope.studies.patterns.classifier.picture import Cells, Pictures, along_diagonals
from headscope.studies.patterns.classifier.variance_shares import N_SHARES, variance_shares

N_NUMBERS = 118 + N_SHARES
# Shares of the map's maximum from which a cell counts as visible.
VISIBLE = (0.05, 0.1, 0.2, 0.4)
# Half the widths of a band, in tokens.
WIDTHS = (0, 1, 2, 4)

PerMap = Float[Tensor, " map"]


def numbers(maps: Pictures) -> Float[Tensor, "map number"]:
    """The numbers of each map, about logarithmic."""
    ordered = maps.maximum.sort(1).values
    median, quarter = ordered[:, SIZE // 2 - 1], ordered[:, SIZE // 4]
    features = [*_columns(maps, median, quarter), *_scale(maps)]
    for standing_out in (maps.maximum - median[:, None], maps.root - median.sqrt()[:, None]):
        features += [*_bands(maps, standing_out.clamp(min=0)), *_parallels(maps, standing_out.clamp(min=0))]
    raw = torch.stack([*features, *_reach(maps), *_rest(maps), *variance_shares(maps)], dim=1)
    return raw.sign() * torch.log1p(3 * raw.abs())


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


def _bands(maps: Pictures, standing_out: Cells) -> Iterator[PerMap]:
    """Bands along the main diagonal: what a row has in them, how many rows, how much, against what is far, of all."""
    token = _token(maps)
    far = maps.distance > torch.maximum(3 * token, maps.length / 6)
    elsewhere = _mean(standing_out, far)
    for width in WIDTHS:
        inside = maps.distance <= (width + 0.01) * token
        strongest = (standing_out * inside).amax(2)
        mean = _mean(standing_out, inside)
        share = (standing_out * inside).sum((1, 2)) / (standing_out.sum((1, 2)) + 1e-6)
        yield from (strongest.mean(1), (strongest > 0.1).float().mean(1), mean, mean / (elsewhere + 0.01), share)


def _parallels(maps: Pictures, standing_out: Cells) -> Iterator[PerMap]:
    """The strongest parallel close to the main diagonal, the strongest far from it, and their ratio."""
    along = along_diagonals(standing_out, extra=4)
    apart = (torch.arange(2 * SIZE - 1, device=along.device) - SIZE + 1).abs() / SIZE
    distance = apart * maps.length[:, 0]
    close = distance <= 3.03 * _token(maps)[:, 0]
    near, far = (along * close).amax(1), (along * ~close * (apart < 0.85)).amax(1)
    yield from (near, far, near / (far + 0.01))


def _reach(maps: Pictures) -> Iterator[PerMap]:
    """Distance of attention, [CLS] apart: its mean, and the shares within bands, also in relation to even attention."""
    others = maps.mean * (1 - maps.cls)
    others = others / others.sum(2, keepdim=True).clamp(min=1e-9)
    yield (others * maps.distance / maps.length).sum(2).mean(1)
    for width in (1, 2, 4, 8):
        inside = maps.distance <= (width + 0.01) * _token(maps)
        share = (others * inside).sum(2).mean(1)
        yield from (share, share / inside.float().mean((1, 2)))


def _rest(maps: Pictures) -> Iterator[PerMap]:
    """Attention outside columns and the main diagonal: its share, its largest cell, and the share that is visible."""
    rest = (maps.maximum - maps.maximum.mean(1, keepdim=True)).clamp(min=0) * (maps.distance > 2.02 * _token(maps))
    yield from (rest.sum((1, 2)) / maps.maximum.sum((1, 2)), rest.amax((1, 2)), (rest > 0.1).float().mean((1, 2)))


def _token(maps: Pictures) -> Float[Tensor, "map 1 1"]:
    """A token, or a cell's side where that is more, in tokens."""
    return (maps.length / SIZE).clamp(min=1)


def _mean(values: Cells, where: Float[Tensor, "map row column"]) -> PerMap:
    return (values * where).sum((1, 2)) / where.sum((1, 2)).clamp(min=1)
