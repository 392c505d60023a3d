"""What is timed: forward passes over batches of some shapes, on a device."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from headscope.models import Model
from headscope.outputs.size_and_speed import seconds_by_round

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

    def by_round(self, models: Sequence[Model], rounds: int = ROUNDS) -> Float[np.ndarray, "round shape model"]:
        """Seconds of a forward pass of each model in each round but the first; models take turns."""
        here = [model.on(self.device) if self.device else model for model in models]
        seconds = [seconds_by_round(here, *shape, rounds) for shape in self.shapes]
        return np.array(seconds).transpose(2, 0, 1)


def times_as_fast(seconds: Float[np.ndarray, "round shape before_and_after"]) -> tuple[float, float, float]:
    """How many times as fast the second of two models is, and the least and the most of all rounds.

    Turned over is the mean share of time over the shapes, by the medians. The range of 7 rounds is a 98% interval of a
    median, as far as the rounds are independent.

    >>> times_as_fast(np.array([[[2.0, 1.0]], [[4.0, 1.0]], [[3.0, 1.0]]]))
    (3.0, 2.0, 4.0)
    """
    of_rounds = 1 / (seconds[:, :, 1] / seconds[:, :, 0]).mean(1)
    typical = np.median(seconds, 0)
    return float(1 / (typical[:, 1] / typical[:, 0]).mean()), float(of_rounds.min()), float(of_rounds.max())


def busy() -> str:
    """That other programs have the processor, in words; empty if they have less than half of it, or it is not known."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    others = load - min(torch.get_num_threads(), cores)
    return f"The machine was busy: a load of {load:.1f} on {cores} cores." if others > cores / 2 else ""


def shapes_of(lengths: Sequence[int], batches: Sequence[int], tokens: Sequence[int], most: int) -> Shapes:
    """The timed shapes: all batch sizes with all lengths, by default the median and the longest of twenty texts."""
    if not tokens:
        tokens = sorted({int(np.quantile(lengths, level)) for level in (0.5, 0.95)})
    return tuple((batch, min(length, most)) for batch in batches for length in tokens)
