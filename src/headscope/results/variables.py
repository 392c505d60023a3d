"""Labelled variables of a result: values with their intervals and the number of their cases, and best heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
import xarray as xr

from headscope.common_numbers import SINK_SOURCE, sinks
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.study import Number

NAMES = ("sink_applies", "sink_otherwise", "sink_gain")


@dataclass(frozen=True)
class Variable:
    """Labels of a measure's variable; `coords` are those beside layer and head, `cases` is the unit of its count."""

    name: str
    long_name: str
    units: str
    source: str
    coords: dict[str, tuple[str, ...] | tuple[int, ...]] = field(default_factory=dict)
    cases: str = "examples"


@dataclass(frozen=True)
class Count:
    """Number of cases of a mean: the variable `x_n_examples`."""

    values: Any
    long_name: str
    units: str = "examples"
    dims: Sequence[str] = ()


class FirstWords(TypedDict):
    """First words of the long names of intervals and of numbers of cases."""

    interval: str
    cases: str


# Results of a paired bootstrap: `Variables(coords, source, labels, **PAIRED)`.
PAIRED: FirstWords = {"interval": "95% paired bootstrap interval of", "cases": "examples of"}


@dataclass(frozen=True)
class Variables:
    """Variables of a result, collected in `arrays` in the order in which they are added.

    * `coords`: labels of the dimensions; a dimension without labels, such as layer or head, counts from 1.
    * `source`: paper and section, or program, of variables that name no other.
    * `labels`: what is declared of the variables, by name.
    * `resampled`: what intervals are over where that is not of the corpus, in words.
    * `interval`, `cases`: first words of the long names of intervals and of numbers of cases.

    >>> score = Number("score", "a score", "share", ("layer", "relation"))
    >>> variables = Variables({"relation": ["all"]}, "Clark et al. 2019", {"score": score})
    >>> score = variables.add("score", [[0.5], [0.25]])
    >>> score.sel(layer=2, relation="all").item()
    0.25
    """

    coords: Mapping[str, Sequence[Any]]
    source: str
    labels: Mapping[str, Number]
    interval: str = "95% bootstrap interval of"
    cases: str = "examples with"
    resampled: str = ""
    arrays: dict[str, xr.DataArray] = field(default_factory=dict)

    def add(self, name: str, values: Any, *, interval: Any = None, count: Count | int | None = None) -> xr.DataArray:
        """Add the variable `name`, and beside it `name_ci` and `name_n_examples` where these are given.

        * `interval`: lower and upper bounds along the last axis, after the axes of `values`.
        * `count`: number of cases of the values; a plain number counts examples.

        Returns: the variable.
        """
        label = self.labels[name]
        attributes = {"long_name": label.what, "units": label.unit, "source": label.source or self.source}
        attributes |= {"resampled": self.resampled} if self.resampled else {}
        array = self.arrays[name] = self._array(values, label.dims, attributes)
        if interval is not None:
            bounds = attributes | {"long_name": f"{self.interval} {label.what}"}
            self.arrays[f"{name}_ci"] = self._array(interval, (*label.dims, "bound"), bounds)
        if count is not None:
            count = count if isinstance(count, Count) else Count(count, f"{self.cases} {label.what}")
            cases = attributes | {"long_name": count.long_name, "units": count.units}
            self.arrays[f"{name}_n_examples"] = self._array(count.values, count.dims, cases)
        return array

    def add_tally(self, name: str, tally: Tally, heads: tuple[int, ...], cases: str = "examples") -> None:
        """Add the mean of a number of heads, its 95% interval if it was resampled, and its number of cases.

        * `heads`: the number of heads of each layer; a layer with fewer heads than another is filled with NaN.
        * `cases`: what is counted, such as words.
        """
        label = self.labels[name]
        count = Count(tally.count, f"{cases} with {label.what}", cases, label.dims[2:])
        bounds = by_layer(tally.interval, heads) if len(tally.resampled_total) else None
        self.add(name, by_layer(tally.mean, heads), interval=bounds, count=count)

    def _array(self, values: Any, dims: Sequence[str], attributes: Mapping[str, str]) -> xr.DataArray:
        values = np.asarray(values)
        labels = {"bound": BOUNDS, **self.coords}
        coords = {
            dim: list(labels[dim]) if dim in labels else np.arange(1, size + 1)
            for dim, size in zip(dims, values.shape, strict=True)
        }
        return xr.DataArray(values, coords, tuple(dims), attrs=attributes)


def label(variable: Variable, tally: Tally, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """The mean of a measure, its 95% interval and its number of examples (or words ...), as variables of a result."""
    number = Number(variable.name, variable.long_name, variable.units, ("layer", "head", *variable.coords))
    variables = Variables(variable.coords, variable.source, {variable.name: number})
    variables.add_tally(variable.name, tally, heads, variable.cases)
    return variables.arrays


def places(heads: tuple[int, ...]) -> list[tuple[int, int]]:
    """Layer and head, both from 1, of all heads in a row.

    >>> places((1, 2))
    [(1, 1), (2, 1), (2, 2)]
    """
    return [(layer, head) for layer, number in enumerate(heads, 1) for head in range(1, number + 1)]


def by_layer(flat: np.ndarray, heads: tuple[int, ...]) -> np.ndarray:
    """From heads in a row to [layer, head, ...]."""
    layer = np.repeat(np.arange(len(heads)), heads)
    head = np.concatenate([np.arange(number) for number in heads])
    full = np.full((len(heads), max(heads), *flat.shape[1:]), np.nan)
    full[layer, head] = flat
    return full


# On other data another head may be chosen.
OF_THIS_RUN = ", of the head that this run chose"


def add_place(variables: Variables, best: Sequence[BestHead | None], heads: tuple[int, ...]) -> None:
    """Add `chosen_layer` and `chosen_head`: the best heads, NaN where there is none."""
    indices = places(heads)
    variables.add("chosen_layer", column(best, lambda choice: indices[choice.selected.head][0]))
    variables.add("chosen_head", column(best, lambda choice: indices[choice.selected.head][1]))


def add_held_out(
    variables: Variables, best: Sequence[BestHead | None], names: Sequence[str], cases: str, shares: int = 0
) -> None:
    """Add the scores of the best heads on the other half, each with its interval, NaN where there is no best head.

    * `names`: the variables in the order of the rows of `BestHead.held_out`.
    * `cases`: what the cases of the other half are, such as "words of each relation"; their number stands beside the
      first score.
    * `shares`: this many of the first scores are means of zeros and ones.
    """
    numbers = column(best, lambda choice: int(choice.held_out.count), 0)
    dims = variables.labels[names[0]].dims
    count = Count(numbers, f"{cases} on the other half", cases.partition(" ")[0], dims)
    for row, name in enumerate(names):
        means, intervals = held_out_scores(best, row, share=row < shares)
        variables.add(name, means, interval=intervals, count=count if row == 0 else None)
        variables.arrays[f"{name}_ci"].attrs["long_name"] += OF_THIS_RUN


def no_op_variables(dim: str, tallies: Mapping[str, Tally], labels: Sequence[str]) -> dict[str, xr.DataArray]:
    """The variables by label of a dimension, NaN for labels without a tally; see `paired_means`.

    `sink_q_value` is the false discovery rate at which other words give special tokens no more (a t test over inputs or
    documents, corrected for all labels).
    """
    variables = Variables({dim: labels}, SINK_SOURCE, {number.name: number for number in sinks(dim)})
    measured = [tally if (tally := tallies.get(label)) is not None and int(tally.count) else None for label in labels]
    counts = Count(
        [int(tally.count) if tally else 0 for tally in measured], "inputs with words of both kinds", "inputs", (dim,)
    )
    for row, name in enumerate(NAMES):
        means = [tally.mean[row] if tally else np.nan for tally in measured]
        interval = [tally.interval[row] if tally else [np.nan, np.nan] for tally in measured]
        variables.add(name, means, interval=interval, count=counts)
    p = np.array([tally.p_above_zero[-1] if tally else np.nan for tally in measured])
    variables.add("sink_q_value", benjamini_hochberg(p))
    return variables.arrays
