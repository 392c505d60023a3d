"""Numbers of a map that say how its columns and its diagonals stand out: what an eye would judge a picture by."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.patterns.classifier.grid import SIZE
from headscope.studies.patterns.classifier.picture import Cells, Seen, along_diagonals

N_NUMBERS = 118
# Shares of the map's maximum from which a cell counts as visible.
VISIBLE = (0.05, 0.1, 0.2, 0.4)
# Half the widths of a band, in tokens.
WIDTHS = (0, 1, 2, 4)

PerMap = Float[Tensor, " map"]


def numbers(maps: Seen) -> Float[Tensor, "map number"]:
    """The numbers of each map, about logarithmic."""
    ordered = maps.shown.sort(1).values
    median, quarter = ordered[:, SIZE // 2 - 1], ordered[:, SIZE // 4]
    found = [*_columns(maps, median, quarter), *_scale(maps)]
    for standing_out in (maps.shown - median[:, None], maps.root - median.sqrt()[:, None]):
        found += [*_bands(maps, standing_out.clamp(min=0)), *_parallels(maps, standing_out.clamp(min=0))]
    raw = torch.stack([*found, *_reach(maps), *_rest(maps)], dim=1)
    return raw.sign() * torch.log1p(3 * raw.abs())


def _columns(maps: Seen, *quantiles: Float[Tensor, "map column"]) -> Iterator[PerMap]:
    """Of each statistic of a column: the four largest columns (none twice), the mean and the first."""
    visible = [(maps.shown > level).float().mean(1) for level in VISIBLE]
    statistics = [maps.shown.mean(1), maps.root.mean(1), maps.mean.mean(1), *quantiles, *visible]
    for statistic in statistics:
        yield from (statistic * maps.first).topk(4, dim=1).values.unbind(1)
        yield from (statistic.mean(1), statistic[:, 0])


def _scale(maps: Seen) -> Iterator[PerMap]:
    """How long the map is, how large its maximum, and how much of it is visible."""
    length, largest, mean = maps.length[:, 0, 0], maps.largest[:, 0, 0], maps.shown.mean((1, 2))
    yield from (length.log(), largest, largest * length / 10, mean, mean.log(), maps.shown.std((1, 2)))


def _bands(maps: Seen, standing_out: Cells) -> Iterator[PerMap]:
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


def _parallels(maps: Seen, standing_out: Cells) -> Iterator[PerMap]:
    """The strongest parallel close to the main diagonal, the strongest far from it, and their ratio."""
    along = along_diagonals(standing_out, extra=4)
    apart = (torch.arange(2 * SIZE - 1, device=along.device) - SIZE + 1).abs() / SIZE
    distance = apart * maps.length[:, 0]
    close = distance <= 3.03 * _token(maps)[:, 0]
    near, far = (along * close).amax(1), (along * ~close * (apart < 0.85)).amax(1)
    yield from (near, far, near / (far + 0.01))


def _reach(maps: Seen) -> Iterator[PerMap]:
    """How far queries look, [CLS] apart: the mean distance, and the shares within bands, also against even ones."""
    seen = maps.mean * (1 - maps.cls)
    seen = seen / seen.sum(2, keepdim=True).clamp(min=1e-9)
    yield (seen * maps.distance / maps.length).sum(2).mean(1)
    for width in (1, 2, 4, 8):
        inside = maps.distance <= (width + 0.01) * _token(maps)
        share = (seen * inside).sum(2).mean(1)
        yield from (share, share / inside.float().mean((1, 2)))


def _rest(maps: Seen) -> Iterator[PerMap]:
    """What is neither in columns nor near the main diagonal: its share, its largest cell, how much is visible."""
    rest = (maps.shown - maps.shown.mean(1, keepdim=True)).clamp(min=0) * (maps.distance > 2.02 * _token(maps))
    yield from (rest.sum((1, 2)) / maps.shown.sum((1, 2)), rest.amax((1, 2)), (rest > 0.1).float().mean((1, 2)))


def _token(maps: Seen) -> Float[Tensor, "map 1 1"]:
    """A token, or a cell's side where that is more, in tokens."""
    return (maps.length / SIZE).clamp(min=1)


def _mean(values: Cells, where: Float[Tensor, "map row column"]) -> PerMap:
    return (values * where).sum((1, 2)) / where.sum((1, 2)).clamp(min=1)
