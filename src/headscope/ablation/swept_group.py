"""The units of a sweep: the outputs of a batch with all heads, and with each part's heads disabled."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from headscope.ablation.journal import Journal
from headscope.ablation.strategies import Strategy, SweptInputs, Variants
from headscope.encoding.encoded import Encoded

ALL_HEADS = "all heads"


@dataclass(frozen=True)
class SweptGroup:
    """A batch of a sweep; the outputs of all heads, and of each of the parts, are units of the journal."""

    number: int
    group: list[Encoded]
    parts: list[Variants]
    journal: Journal

    @property
    def missing(self) -> list[Variants]:
        """The parts that the journal does not have."""
        return [part for part in self.parts if unit_name(self.number, part.name) not in self.journal]

    @property
    def units(self) -> list[str]:
        """The names of all units."""
        return [unit_name(self.number, name) for name in (ALL_HEADS, *(part.name for part in self.parts))]

    @property
    def incomplete(self) -> bool:
        """Whether the journal lacks a unit."""
        return any(unit not in self.journal for unit in self.units)

    def outputs(
        self, task_inputs: SweptInputs, strategy: Strategy, on_progress: Callable[[int], None]
    ) -> Iterator[tuple[str, Float[np.ndarray, "variant example output"]]]:
        """The missing units, each with its outputs."""
        missing, batch = self.missing, task_inputs.batch(self.group)
        with torch.inference_mode(), closing(strategy.outputs(batch, missing)) as outputs:
            plain = next(outputs)
            if (unit := unit_name(self.number, ALL_HEADS)) not in self.journal:
                yield unit, plain
            for part, values in zip(missing, outputs, strict=True):
                yield unit_name(self.number, part.name), values
                on_progress(len(self.group) * len(part.heads))


def unit_name(batch: int, part: str) -> str:
    """The name of a unit of the journal."""
    return f"batch {batch}, {part}"
