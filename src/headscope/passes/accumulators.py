"""Accumulators of the two usual passes: tallies of values, resampled in groups, and lists of observations."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.passes.shards import Fold
from headscope.statistics.bootstrap import Tally, poisson_draws, tally

Value = TypeVar("Value")
Tallies = dict[str, Tally]
# The units of the inputs of a batch, which are resampled, and their values by name.
IndexedValues = tuple[Tensor, dict[str, Values]]
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
            merged = {name: self.tallies[name] + tally for name, tally in new.items()} if self.tallies else new
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


class TallyAccumulator:
    """Tallies, by name, of the values of each batch."""

    def __init__(self, values: Callable[[list[Encoded]], IndexedValues], seed: int, resamples: int):
        self.values, self.buffer = values, Buffer(seed, resamples)

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        self.buffer.add(*self.values(group))

    def state(self) -> Tallies:
        """The tallies of all batches so far."""
        return self.buffer.flush()


class ListAccumulator(Generic[Value]):
    """The observations of each batch."""

    def __init__(self, observe: Callable[[list[Encoded]], Value]):
        self.observe, self.observations = observe, list[Value]()

    def add(self, group: list[Encoded]) -> None:
        """See `Accumulator`."""
        self.observations.append(self.observe(group))

    def state(self) -> list[Value]:
        """The observations so far."""
        return list(self.observations)


def listed(kind: type[Value], refuse_damaged: Callable[[list[Value]], None] = lambda state: None) -> Fold[list[Value]]:
    """The fold of parts that come as lists of values of a type; `refuse_damaged`: see `Fold`."""
    start = partial(ListAccumulator[Any], lambda group: None)  # no batch is added here
    return Fold(start, operator.add, list[kind], listed=True, refuse_damaged=refuse_damaged)


def added(one: Tallies, other: Tallies) -> Tallies:
    """The tallies of two parts of a corpus, by name.

    Raises `ValueError` if their names differ.
    """
    if one.keys() != other.keys():
        raise ValueError(f"tallies of {', '.join(one)} and of {', '.join(other)}")
    return {name: tally + other[name] for name, tally in one.items()}
