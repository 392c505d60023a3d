"""What each part costs on this machine: seconds of a forward pass, measured, and bytes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from headscope.models import Model
from headscope.models.removable_parts import Kept
from headscope.models.smaller import cut
from headscope.outputs.size_and_speed import forward_seconds
from headscope.studies.shrink.sizes import Original, Size

Shapes = tuple[tuple[int, int], ...]
# Widths that are timed, as shares of the whole one; between them seconds are interpolated.
WIDTHS = (1.0, 0.67, 0.33, 0.08)
ROUNDS = 8


@dataclass(frozen=True)
class Prices:
    """Seconds of a forward pass by its shape.

    * `shapes`: numbers of examples and of tokens.
    * `layers`: number of layers of the whole model; `fixed`: seconds outside of its layers.
    * `widths`: feed-forward widths in descending order; `of_width`: seconds of the whole model with each of them.
    * `of_head`: seconds of a head in a layer, 0 where no head can go.
    """

    shapes: Shapes
    layers: int
    heads: int
    fixed: tuple[float, ...]
    widths: tuple[int, ...]
    of_width: tuple[tuple[float, ...], ...]
    of_head: tuple[float, ...]

    def seconds(self, size: Size) -> Float[np.ndarray, " shape"]:
        """Expected seconds of a forward pass of a model of a size."""
        table, fixed = np.array(self.of_width), np.array(self.fixed)
        at_width = [np.interp(size.width, self.widths[::-1], column[::-1]) for column in table.T]
        layer = (np.array(at_width) - fixed) / self.layers
        layer = layer - (self.heads - size.heads) * np.array(self.of_head)
        return fixed + len(size.layers) * np.maximum(layer, 0)

    def share(self, size: Size, original: Size) -> float:
        """Expected share of the whole model's time, the mean over shapes.

        >>> prices = Prices(((1, 8),), 2, 4, (0.0,), (8, 4), ((2.0,), (1.0,)), (0.0,))
        >>> prices.share(Size((0,), 4, 4), Size((0, 1), 8, 4))
        0.25
        """
        return float((self.seconds(size) / self.seconds(original)).mean())

    def as_json(self) -> dict[str, Any]:
        """The table as JSON stores it."""
        return asdict(self)


def prices_from(stored: dict[str, Any]) -> Prices:
    """The table that `Prices.as_json` stored."""
    nested = {name: tuple(map(tuple, stored[name])) for name in ("shapes", "of_width")}
    flat = {name: tuple(stored[name]) for name in ("fixed", "widths", "of_head")}
    return Prices(layers=stored["layers"], heads=stored["heads"], **nested, **flat)


def measure(original: Original, shapes: Shapes, rounds: int = ROUNDS) -> Prices:
    """Time models of some sizes on this machine; they take turns.

    The shortest of the rounds counts: what else the machine does only adds to a time.
    """
    size, model = original.size, original.model
    widths = sorted({max(1, round(share * size.width)) for share in WIDTHS}, reverse=True) if original.moments else []
    models = [model, *(narrow(original, width) for width in widths[1:])]
    shallow = cut(model, Kept(layers=(0,))) if len(size.layers) > 1 else model
    few = (
        cut(model, original.kept(Size(size.layers, size.width, 1)))
        if original.parts.heads and size.heads > 1
        else model
    )
    table = np.array([forward_seconds([*models, shallow, few], *shape, rounds, min) for shape in shapes]).T
    # A narrower model takes no longer: what the clock says beyond that is noise.
    of_width = np.minimum.accumulate(table[: len(models)], axis=0)
    number = len(size.layers)
    layer = (of_width[0] - np.minimum(table[-2], of_width[0])) / max(number - 1, 1)
    fixed = np.maximum(of_width[0] - number * layer, 0)
    of_head = (of_width[0] - np.minimum(table[-1], of_width[0])) / number / max(size.heads - 1, 1)
    return Prices(
        shapes,
        number,
        size.heads,
        tuple(np.minimum(fixed, of_width.min(0)).tolist()),
        tuple(widths or [size.width]),
        tuple(map(tuple, of_width.tolist())),
        tuple(of_head.tolist()),
    )


def narrow(original: Original, width: int) -> Model:
    """A model of this width, whose last neurons are gone."""
    return cut(original.model, Kept(neurons=(tuple(range(width)),) * len(original.size.layers)))


def shapes_of(lengths: Sequence[int], batches: Sequence[int], tokens: Sequence[int], most: int) -> Shapes:
    """The timed shapes: all batch sizes with all lengths, by default the median and the longest of twenty texts."""
    if not tokens:
        tokens = sorted({int(np.quantile(lengths, level)) for level in (0.5, 0.95)})
    return tuple((batch, min(length, most)) for batch in batches for length in tokens)
