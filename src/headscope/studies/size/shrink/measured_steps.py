"""Steps that a search may take next, measured by processes on this machine: the numbers are those of one process."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import inf

import torch

from headscope.cluster.engine import Tasks
from headscope.cluster.forked import ForkedEngine
from headscope.passes.settings import Settings
from headscope.storage.codec import decode, encode
from headscope.studies.size.shrink.record import Step


def asked_ahead(parts: Sequence[str], worth: Mapping[str, float], workers: int) -> list[str]:
    """The parts whose steps are measured at once, the best first.

    Those that were never measured have to be, before any other is taken. Of others only the best surely has to be:
    further ones are measured by workers that had nothing to do, and count for nothing if the search does not ask.

    * `parts`: that are not measured in this step; `worth`: when they were last measured, infinite for never.

    >>> asked_ahead(["neurons", "layer 1", "layer 2"], {"neurons": 1.0, "layer 1": inf, "layer 2": inf}, 2)
    ['layer 1', 'layer 2']
    >>> asked_ahead(["neurons", "layer 1", "layer 2"], {"neurons": 1.0, "layer 1": 3.0, "layer 2": 2.0}, 2)
    ['layer 1', 'layer 2']
    """
    ordered = sorted(parts, key=lambda part: -worth[part])
    unknown = [part for part in ordered if worth[part] == inf]
    return unknown if workers > 1 and len(unknown) > 1 else ordered[:workers]


@dataclass(frozen=True)
class StepMeasuring:
    """Measures steps by one process or several.

    * `measure`: measures the step that removes a part.
    """

    measure: Callable[[str], Step]
    settings: Settings
    device: torch.device

    def steps(self, parts: Sequence[str]) -> dict[str, Step]:
        """The steps that remove these parts, each by itself.

        Raises `HeadscopeError` where processes cannot be forked with a model.
        """
        workers = min(self.settings.workers, len(parts))
        if workers < 2:
            return {part: self.measure(part) for part in parts}
        tasks = Tasks(
            lambda number, channel: encode(self.measure(parts[number])),
            range(len(parts)),
            "step",
            lambda: {},
            lambda done: None,
        )
        with closing(ForkedEngine(workers, self.device).values(tasks)) as values:
            return {part: decode(value, Step) for part, value in zip(parts, values, strict=True)}
