"""The best head of one half of the inputs, scored on the other half."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.statistics.bootstrap import Tally, poisson_draws
from headscope.statistics.columns import Columns
from headscope.statistics.intervals import LEAST_DOCUMENTS

Rows = TypeVar("Rows", bound=Columns)


@dataclass(frozen=True)
class Selection:
    """A head and its baseline.

    * `head`: in the row of all heads; `direction`: its number among the directions of the study.
    * `baseline`: the baseline, such as a fixed word.
    """

    head: int
    direction: int = 0
    baseline: Any = 0


@dataclass(frozen=True)
class BestHead:
    """The head and baseline that are best on one half of the inputs; `held_out`: their scores on the other, as rows."""

    selected: Selection
    held_out: Tally


@dataclass(frozen=True)
class Split:
    """The bootstrap draws of the inputs, and the mask of the half on which heads are selected; documents stay whole."""

    draws: UInt8[np.ndarray, "resample input"]
    selection_half: Bool[np.ndarray, " input"]


def split_of(inputs: Int[np.ndarray, " case"], units: Int[np.ndarray, " case"], seed: int, resamples: int) -> Split:
    """The split of all inputs, by the inputs and units of their cases; an input without a case is its own unit.

    >>> first, alone, last = split_of(np.array([0, 0, 2]), np.array([7, 7, 7]), 0, 5).selection_half.tolist()
    >>> first == last != alone
    True
    """
    unit = np.arange(int(inputs.max(initial=-1)) + 1)
    unit[inputs] = units
    return Split(poisson_draws(unit, seed, resamples).astype(np.uint8), split_in_half(unit, seed))


def split_in_half(inputs: int | Int[np.ndarray, " input"], seed: int) -> Bool[np.ndarray, " input"]:
    """Mask of the inputs on which heads are selected: every other one, in an order that depends on the seed.

    * `inputs`: their number; or the unit of each, of which no half has a part.

    >>> sorted(split_in_half(4, seed=0).tolist())
    [False, False, True, True]
    >>> first, again, other = split_in_half(np.array([7, 7, 9]), seed=0).tolist()
    >>> first == again != other
    True
    """
    unit = np.unique(np.arange(inputs) if isinstance(inputs, int) else inputs, return_inverse=True)[1]
    return (np.random.default_rng(seed).permutation(unit.max(initial=-1) + 1) % 2 == 0)[unit]


def best_head(
    rows: Rows,
    in_selection_half: Bool[np.ndarray, " row"] | None,
    select: Callable[[Rows], Selection],
    evaluate: Callable[[Rows, Selection], Tally],
) -> BestHead | None:
    """Select a head on one half of the rows and evaluate it on the other; None where a half has no rows.

    * `in_selection_half`: mask of the rows on which heads are selected; None selects and evaluates on all rows.
    """
    first, second = halves(rows, in_selection_half)
    if not (len(first) and len(second)):
        return None
    selected = select(first)
    return BestHead(selected, evaluate(second, selected))


def halves(rows: Rows, in_selection_half: Bool[np.ndarray, " row"] | None) -> tuple[Rows, Rows]:
    """The rows on which heads are selected, and those on which they are evaluated; all rows twice without a mask."""
    return (rows, rows) if in_selection_half is None else (rows[in_selection_half], rows[~in_selection_half])


def column(best: Iterable[BestHead | None], value: Callable[[BestHead], Any], missing: Any = np.nan) -> list[Any]:
    """A value of each best head, `missing` where there is none."""
    return [missing if head is None else value(head) for head in best]


def held_out_scores(
    best: Iterable[BestHead | None], row: int | list[int], share: bool = False
) -> tuple[Float[np.ndarray, "*dims"], Float[np.ndarray, "*dims 2"]]:
    """One or several of the held-out scores of each best head, NaN where there is none.

    A half of fewer than `LEAST_DOCUMENTS`, or as few examples, has no intervals.

    * `share`: whether they are means of zeros and ones, with the intervals of shares.

    Returns: the means and their 95% intervals.
    """
    best, missing = list(best), np.full(np.shape(row), np.nan)
    means = column(best, lambda head: head.held_out.mean[row], missing)
    bounds = "share_interval" if share else "interval"
    unknown = np.stack([missing, missing], axis=-1)
    enough = [head if head and head.held_out.units.min() > LEAST_DOCUMENTS - 0.5 else None for head in best]
    intervals = column(enough, lambda head: getattr(head.held_out, bounds)[row], unknown)
    return np.array(means), np.array(intervals)
