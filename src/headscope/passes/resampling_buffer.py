"""Gathers the values of a few hundred examples before they are resampled: one matrix product pays for many."""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from headscope.encoding.batch import Values
from headscope.statistics.bootstrap import Tally, poisson_draws, tally

TOGETHER = 256


Arrays = tuple[np.ndarray, np.ndarray]


@dataclass
class Buffer:
    """Values of examples on their way to tallies; emptied whenever it holds `TOGETHER` examples.

    Ctrl-C leaves every batch in or out as a whole.
    """

    seed: int
    resamples: int
    tallies: dict[str, Tally] = field(default_factory=dict)
    pending: list[tuple[list[int], dict[str, Arrays]]] = field(default_factory=list)

    def add(self, unit: Tensor, values: dict[str, Values]) -> None:
        """Take in the values of a batch of examples; those of one `unit` are resampled together."""
        if sum(len(numbers) for numbers, _ in self.pending) >= TOGETHER:
            self.flush()
        self.pending.append((unit.tolist(), _to_host(values)))

    def flush(self) -> dict[str, Tally]:
        """The tallies of all examples so far."""
        if self.pending:
            draws = poisson_draws(
                [number for numbers, _ in self.pending for number in numbers], self.seed, self.resamples
            )
            new = {name: tally(*self._joined(name), draws) for name in self.pending[0][1]}
            merged = {name: self.tallies[name] + each for name, each in new.items()} if self.tallies else new
            self.tallies, self.pending = merged, []
        return self.tallies

    def _joined(self, name: str) -> Arrays:
        values, valid = zip(*(batch[name] for _, batch in self.pending), strict=True)
        return np.concatenate(values), np.concatenate(valid)


def _to_host(values: dict[str, Values]) -> dict[str, Arrays]:
    arrays = _moved([statistic.values for statistic in values.values()])
    valid = _moved([statistic.valid for statistic in values.values()])
    return dict(zip(values, zip(arrays, valid, strict=True), strict=True))


def _moved(tensors: list[Tensor]) -> list[np.ndarray]:
    """The tensors, each [example, ...], as arrays; in one transfer, which is what costs time on a GPU."""
    # [example, values of all tensors]
    flat = torch.cat([tensor.reshape(len(tensor), -1) for tensor in tensors], dim=1).cpu().numpy()
    ends = np.cumsum([tensor[0].numel() for tensor in tensors])[:-1]
    return [part.reshape(tensor.shape) for part, tensor in zip(np.split(flat, ends, axis=1), tensors, strict=True)]
