"""What is timed: forward passes over batches of some shapes, on a device."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from jaxtyping import Float

from headscope.models import Model
from headscope.outputs.size_and_speed import forward_seconds

Shapes = tuple[tuple[int, int], ...]
ROUNDS = 8


@dataclass(frozen=True)
class Timing:
    """Forward passes that are timed.

    * `shapes`: numbers of examples and of tokens; `device`: where models run; empty for that of the model.
    """

    shapes: Shapes
    device: str = ""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.shapes)

    def seconds(
        self, models: Sequence[Model], rounds: int = ROUNDS, typical: Callable[[list[float]], float] = median
    ) -> Float[np.ndarray, "shape model"]:
        """Typical seconds of a forward pass of each model; models take turns."""
        here = [model.on(self.device) if self.device else model for model in models]
        return np.array([forward_seconds(here, *shape, rounds, typical) for shape in self.shapes])


def shapes_of(lengths: Sequence[int], batches: Sequence[int], tokens: Sequence[int], most: int) -> Shapes:
    """The timed shapes: all batch sizes with all lengths, by default the median and the longest of twenty texts."""
    if not tokens:
        tokens = sorted({int(np.quantile(lengths, level)) for level in (0.5, 0.95)})
    return tuple((batch, min(length, most)) for batch in batches for length in tokens)
