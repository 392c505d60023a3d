"""Heads are removed, the least important first, and counted as they were before the first was gone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing
from headscope.studies.prune.cut_heads import prune


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many heads are to go.

    * `share`: of all heads, in the end; `step`: of all heads, at a time.
    * `keep`: how many stay in each layer at least.
    * `tolerance`: the most that the score may fall; None for no limit.

    Raises `HeadscopeError` for a value that makes no sense.
    """

    share: float = 0.5
    step: float = 0.1
    keep: int = 1
    tolerance: float | None = None

    def __post_init__(self) -> None:
        for name in ("share", "step"):
            if not 0 < getattr(self, name) <= 1:
                raise HeadscopeError(f"{name} {getattr(self, name)} is no share of the heads; use one above 0, up to 1")
        if self.tolerance is not None and not 0 <= self.tolerance < np.inf:
            raise HeadscopeError(f"tolerance {self.tolerance} makes no sense; use 0 or more, such as 0.01")
        if self.keep < 0:
            raise HeadscopeError(f"keep {self.keep} makes no sense; use 0 or more heads in each layer")

    def counts(self, heads: Sequence[int]) -> list[int]:
        """How many heads of layers with so many are gone after each step.

        >>> Plan(share=0.6, step=0.25).counts((4, 4))
        [2, 4, 5]
        """
        total = sum(heads)
        goal = min(round(self.share * total), sum(max(0, number - self.keep) for number in heads), total - 1)
        together = max(1, round(self.step * total))
        return [*range(together, goal, together), goal] if goal else []


def least_important(
    importance: Float[np.ndarray, "layer head"], left: Bool[np.ndarray, "layer head"], number: int, keep: int
) -> tuple[list[tuple[int, int]], set[tuple[int, int]]]:
    """The next `number` heads to remove, in their order, and those that are spared, though it was their turn.

    A head is spared where only `keep` are left of its layer. Of heads that are equal the first goes first.
    Layers and heads count from 0.

    >>> importance, left = np.array([[0.1, 0.2], [0.3, 0.4]]), np.ones((2, 2), dtype=bool)
    >>> least_important(importance, left, number=2, keep=1)
    ([(0, 0), (1, 0)], {(0, 1)})
    """
    remaining, chosen, spared = left.sum(1), [], set()
    order = np.argsort(np.where(left, importance, np.inf), axis=None, kind="stable")
    for layer, head in zip(*(axis.tolist() for axis in np.unravel_index(order, left.shape)), strict=True):
        if len(chosen) == number or not left[layer, head]:
            break
        if remaining[layer] > keep:
            remaining[layer] -= 1
            chosen.append((layer, head))
        else:
            spared.add((layer, head))
    return chosen, spared


@dataclass(frozen=True)
class Pruned:
    """What is left of a model after some steps.

    * `gone`: the heads that were removed, in their order; layer and head of the model as it was, from 0.
    * `spared`: heads whose turn it was, but of whose layer too few were left.
    """

    model: Model
    heads: tuple[int, ...]
    gone: tuple[tuple[int, int], ...] = ()
    spared: frozenset[tuple[int, int]] = frozenset()

    @property
    def left(self) -> Bool[np.ndarray, "layer head"]:
        """Which heads of the model as it was are left."""
        left = existing(self.heads)
        left[places(self.gone)] = False
        return left

    def as_it_was(self, now: Float[np.ndarray, "layer head"]) -> Float[np.ndarray, "layer head"]:
        """Values of the heads that are left, at the places that these had in the model as it was; NaN elsewhere."""
        whole = np.full(self.left.shape, np.nan)
        whole[self.left] = now[existing(self.model.capture.heads)]
        return whole

    def without(self, importance: Float[np.ndarray, "layer head"], number: int, keep: int) -> "Pruned":
        """What is left once `number` heads are gone in all; `importance` is that of the heads as they were."""
        chosen, spared = least_important(importance, self.left, number - len(self.gone), keep)
        gone = np.zeros(self.left.shape, dtype=bool)
        gone[places(chosen)] = True
        there = existing(self.model.capture.heads)
        remove = np.zeros(there.shape, dtype=bool)
        remove[there] = gone[self.left]
        return Pruned(prune(self.model, remove), self.heads, (*self.gone, *chosen), self.spared | spared)


def places(heads: Sequence[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    """The indices of these heads in an array [layer, head].

    >>> np.arange(6).reshape(2, 3)[places([(0, 2), (1, 0)])]
    array([2, 3])
    """
    return tuple(np.array(heads, dtype=int).reshape(-1, 2).T)


def smaller(
    pruned: Pruned, plan: Plan, importance: Callable[[Pruned], Float[np.ndarray, "layer head"]]
) -> Iterator[Pruned]:
    """Ever smaller models, step by step; `importance` is asked for that of the heads before each."""
    for number in plan.counts(pruned.heads):
        pruned = pruned.without(importance(pruned), number, plan.keep)
        yield pruned
