"""Accumulators of the two usual passes: tallies of values, resampled in groups, and lists of observations."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.passes.batches import Check
from headscope.passes.settings import nothing
from headscope.passes.shards import Fold
from headscope.statistics.bootstrap import Tally, poisson_draws, tally

Value = TypeVar("Value")
Tallies = dict[str, Tally]
TOGETHER = 256


Arrays = tuple[np.ndarray, np.ndarray]


class IndexedValues(NamedTuple):
    """The units of the inputs of a batch, which are resampled, and their values by name.

    * `check`: raises an error if the values are not to be used; it may wait for the device.
    """

    unit: Tensor
    values: dict[str, Values]
    check: Check = nothing


@dataclass
class Buffer:
    """Values of examples on their way to tallies; emptied whenever it holds `TOGETHER` examples.

    Ctrl-C leaves every batch in or out as a whole.
    """

    seed: int
    resamples: int
    tallies: dict[str, Tally] = field(default_factory=dict)
    sums: set[str] = field(default_factory=set)
    pending: list[tuple[list[int], dict[str, Arrays]]] = field(default_factory=list)
    coming: Callable[[], tuple[list[int], dict[str, Arrays]]] | None = None

    def add(self, unit: Tensor, values: dict[str, Values], check: Check = nothing) -> None:
        """Take in the values of a batch of examples; those of one `unit` are resampled together.

        They are waited for when the next batch comes, which a GPU computes meanwhile.
        """
        self._arrive()
        if sum(len(numbers) for numbers, _ in self.pending) >= TOGETHER:
            self._tally()
        self.sums |= {name for name, statistic in values.items() if not statistic.resampled}
        self.coming = sent(unit, values, check)

    def flush(self) -> dict[str, Tally]:
        """The tallies of all examples so far."""
        self._arrive()
        self._tally()
        return self.tallies

    def _arrive(self) -> None:
        if self.coming:
            arrived, self.coming = self.coming(), None
            self.pending.append(arrived)

    def _tally(self) -> None:
        if self.pending:
            draws = poisson_draws(
                [number for numbers, _ in self.pending for number in numbers], self.seed, self.resamples
            )
            none = np.empty((0, len(self.pending)))
            new = {
                name: tally(*self._joined(name), none if name in self.sums else draws) for name in self.pending[0][1]
            }
            merged = {name: self.tallies[name] + tally for name, tally in new.items()} if self.tallies else new
            self.tallies, self.pending = merged, []

    def _joined(self, name: str) -> Arrays:
        values, valid = zip(*(batch[name] for _, batch in self.pending), strict=True)
        return np.concatenate(values), np.concatenate(valid)


def sent(unit: Tensor, values: dict[str, Values], check: Check) -> Callable[[], tuple[list[int], dict[str, Arrays]]]:
    """Begin to move values to the host; the function waits for them, and for what `check` says."""
    arrays = _moving([statistic.values for statistic in values.values()])
    valid = _moving([statistic.valid for statistic in values.values()])

    def arrive() -> tuple[list[int], dict[str, Arrays]]:
        check()
        return unit.tolist(), dict(zip(values, zip(arrays(), valid(), strict=True), strict=True))

    return arrive


def _moving(tensors: list[Tensor]) -> Callable[[], list[np.ndarray]]:
    """The tensors as arrays; in one transfer, which is what costs time on a GPU."""
    flat = torch.cat([tensor.flatten() for tensor in tensors])
    ends = np.cumsum([tensor.numel() for tensor in tensors])[:-1]
    shapes, done = [tensor.shape for tensor in tensors], None
    if flat.device.type == "cuda":
        flat = torch.empty(flat.shape, dtype=flat.dtype, pin_memory=True).copy_(flat, non_blocking=True)
        done = torch.cuda.current_stream().record_event()

    def arrive() -> list[np.ndarray]:
        if done:
            done.synchronize()
        parts = np.split(flat.cpu().numpy(), ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    return arrive


class TallyAccumulator:
    """Tallies, by name, of the values of each batch."""

    def __init__(self, values: Callable[[list[Encoded]], IndexedValues], seed: int, resamples: int):
        self.values, self.buffer = values, Buffer(seed, resamples)

    def add(self, group: list[Encoded]) -> None:
        self.buffer.add(*self.values(group))

    def state(self) -> Tallies:
        """The tallies of all batches so far."""
        return self.buffer.flush()


class ListAccumulator(Generic[Value]):
    """The observations of each batch."""

    def __init__(self, observe: Callable[[list[Encoded]], Value]):
        self.observe, self.observations = observe, list[Value]()

    def add(self, group: list[Encoded]) -> None:
        self.observations.append(self.observe(group))

    def state(self) -> list[Value]:
        """The observations so far."""
        return list(self.observations)


def listed(kind: type[Value], refuse_damaged: Callable[[list[Value]], None] = lambda state: None) -> Fold[list[Value]]:
    """The fold of parts that come as lists of values of a type; `refuse_damaged`: see `Fold`."""
    start = partial(ListAccumulator[Any], lambda group: None)  # no batch is added here
    return Fold(start, operator.add, list[kind], listed=True, refuse_damaged=refuse_damaged)


def added(first: Tallies, second: Tallies) -> Tallies:
    """The tallies of two parts of a corpus, by name. Raises `ValueError` if their names differ."""
    if first.keys() != second.keys():
        raise ValueError(f"tallies of {', '.join(first)} and of {', '.join(second)}")
    return {name: tally + second[name] for name, tally in first.items()}
