"""Accumulators of the two usual passes: tallies of values, and lists of observations."""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from torch import Tensor

from headscope.encoding.batch import Values
from headscope.encoding.encoded import Encoded
from headscope.passes.resampling_buffer import Buffer
from headscope.passes.shards import Fold
from headscope.statistics.bootstrap import Tally

Value = TypeVar("Value")
Tallies = dict[str, Tally]
# The units of the inputs of a batch, which are resampled, and their values by name.
IndexedValues = tuple[Tensor, dict[str, Values]]


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
    return {name: each + other[name] for name, each in one.items()}
