"""Gathers the values of a few hundred examples before they are resampled: one matrix product pays for many."""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from headscope.batch import Values
from headscope.tally import Tally, poisson_draws, tally

TOGETHER = 256


@dataclass
class Buffer:
    """Values of examples on their way to tallies; emptied whenever it holds `TOGETHER` examples."""

    seed: int
    resamples: int
    tallies: dict[str, Tally] = field(default_factory=dict)
    index: list[int] = field(default_factory=list)
    pending: list[dict[str, tuple[np.ndarray, np.ndarray]]] = field(default_factory=list)

    def add(self, index: Tensor, values: dict[str, Values]) -> None:
        """Take in the values of a batch of examples, whose numbers in the corpus are `index`."""
        self.index += index.tolist()
        self.pending.append(_to_host(values))
        if len(self.index) >= TOGETHER:
            self.flush()

    def flush(self) -> dict[str, Tally]:
        """The tallies of all examples so far."""
        if self.index:
            draws = poisson_draws(self.index, self.seed, self.resamples)
            for name in self.pending[0]:
                values, valid = (
                    np.concatenate(parts) for parts in zip(*(batch[name] for batch in self.pending), strict=True)
                )
                new = tally(values, valid, draws)
                self.tallies[name] = self.tallies[name] + new if name in self.tallies else new
            self.index, self.pending = [], []
        return self.tallies


def _to_host(values: dict[str, Values]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    arrays = _moved([statistic.values for statistic in values.values()])
    valid = _moved([statistic.valid for statistic in values.values()])
    return dict(zip(values, zip(arrays, valid, strict=True), strict=True))


def _moved(tensors: list[Tensor]) -> list[np.ndarray]:
    """The tensors, each [example, ...], as arrays; in one transfer, which is what costs time on a GPU."""
    flat = torch.cat([tensor.reshape(len(tensor), -1) for tensor in tensors], dim=1).cpu().numpy()
    ends = np.cumsum([tensor[0].numel() for tensor in tensors])[:-1]
    return [part.reshape(tensor.shape) for part, tensor in zip(np.split(flat, ends, axis=1), tensors, strict=True)]
