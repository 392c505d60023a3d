"""Remove heads step by step, the least important first; heads keep the numbers of the original model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Bool, Float

from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.models.heads import existing
from headscope.ranges import Range
from headscope.report.wording import several
from headscope.studies.size.prune.cut_heads import prune

HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class PruningPlan:
    """Numbers of heads to remove, or of KV heads where these are the units.

    * `unit`: Remove single heads, or, with kv, key/value heads with all query heads that share them. These are ranked
      together: by the sum of their gradients, or by the score without all of them. Shares and `keep` count KV heads.
    * `share`: Remove this fraction of all heads (default: 0.5; with `tolerance`, as many as it allows).
    * `tolerance`: Stop before the 95% interval of the main metric's fall reaches this.
    * `step`: Remove this fraction of all heads at a time.
    * `keep`: Keep at least this number of heads in each layer.

    Raises `HeadscopeError` for a value outside its range.
    """

    unit: Literal["head", "kv"] = "head"
    share: Annotated[float, Range(0, 1)] | None = None
    tolerance: Annotated[float, Range(0, 1000)] | None = None
    step: Annotated[float, Range(0, 1)] = 0.1
    keep: Annotated[int, Range(0, 1000)] = 1

    def __post_init__(self) -> None:
        for name, value in {"share": self.most, "step": self.step}.items():
            if not 0 < value <= 1:
                raise HeadscopeError(f"{name} {value} is not a fraction of the heads; use 0 < {name} <= 1, e.g. 0.1")
        if self.tolerance is not None and not 0 <= self.tolerance < np.inf:
            raise HeadscopeError(f"tolerance {self.tolerance} is out of range; use 0 or more, e.g. 0.01")
        if self.keep < 0:
            raise HeadscopeError(f"keep {self.keep} is out of range; use 0 or more heads in each layer")

    @property
    def most(self) -> float:
        """The fraction of all heads that is removed at most."""
        return self.share if self.share is not None else HALF if self.tolerance is None else 1.0

    def refuse_nothing(self, heads: Sequence[int], name: str) -> None:
        """Raise `HeadscopeError` where no layer of a model has more heads, or KV heads, than stay in any case."""
        if max(heads) <= self.keep:
            what = "KV head" if self.unit == "kv" else "head"
            raise HeadscopeError(
                f"model '{name}' has at most {several(max(heads), what)} in a layer, and keep {self.keep} leaves as "
                "many there, so that none can be removed; use a lower keep, 0 to empty layers"
            )

    def counts(self, heads: Sequence[int]) -> list[int]:
        """Number of removed heads after each step; `heads` are the numbers of heads of the layers.

        >>> PruningPlan(share=0.6, step=0.25).counts((4, 4))
        [2, 4, 5]
        """
        total = sum(heads)
        goal = min(round(self.most * total), sum(max(0, number - self.keep) for number in heads), total - 1)
        step = max(1, round(self.step * total))
        return [*range(step, goal, step), goal] if goal else []


def least_important(
    importance: Float[np.ndarray, "layer head"], left: Bool[np.ndarray, "layer head"], number: int, keep: int
) -> tuple[list[tuple[int, int]], set[tuple[int, int]]]:
    """Select the next `number` heads to remove; layers and heads count from 0.

    A head is spared if its layer has only `keep` heads left. Of equally important heads the first is removed first.

    Returns: the heads to remove, in order; the less important heads that were spared.

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
class PrunedModel:
    """A model after some steps of pruning.

    * `model`: the pruned model.
    * `heads`: numbers of heads of the original layers, or of KV heads, which are then counted in their place.
    * `gone`: the removed heads in order, as (layer, head) of the original model, from 0.
    * `spared`: less important heads that stayed because their layer had too few left.
    * `shared`: how many query heads share a KV head; 1 where heads are counted.
    """

    model: Model
    heads: tuple[int, ...]
    gone: tuple[tuple[int, int], ...] = ()
    spared: frozenset[tuple[int, int]] = frozenset()
    shared: int = 1

    @property
    def left(self) -> Bool[np.ndarray, "layer head"]:
        """Remaining heads of the original model."""
        left = existing(self.heads)
        left[places(self.gone)] = False
        return left

    @property
    def there(self) -> Bool[np.ndarray, "layer head"]:
        """Heads of the pruned model."""
        return existing([count // self.shared for count in self.model.capture.heads])

    def at_original_places(self, now: Float[np.ndarray, "layer query_head"]) -> Float[np.ndarray, "layer head"]:
        """Values of the remaining heads at the places of the original model; NaN elsewhere."""
        order = np.full(self.left.shape, np.nan)
        order[self.left] = now[:, :: self.shared][self.there]
        return order

    def without(self, importance: Float[np.ndarray, "layer head"], number: int, keep: int) -> "PrunedModel":
        """Remove the least important heads until `number` are removed in total.

        `importance` is indexed by the original layer and head.
        """
        chosen, spared = least_important(importance, self.left, number - len(self.gone), keep)
        gone = np.zeros(self.left.shape, dtype=bool)
        gone[places(chosen)] = True
        remove = np.zeros(self.there.shape, dtype=bool)
        remove[self.there] = gone[self.left]
        smaller = prune(self.model, remove.repeat(self.shared, axis=1))
        return replace(self, model=smaller, gone=(*self.gone, *chosen), spared=self.spared | spared)


def places(heads: Sequence[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    """Indices of heads in an array [layer, head].

    >>> np.arange(6).reshape(2, 3)[places([(0, 2), (1, 0)])]
    array([2, 3])
    """
    return tuple(np.array(heads, dtype=int).reshape(-1, 2).T)  # layers [head], heads [head]


def smaller(
    pruned: PrunedModel, plan: PruningPlan, importance: Callable[[PrunedModel], Float[np.ndarray, "layer head"]]
) -> Iterator[PrunedModel]:
    """The model after each step; `importance` is called with the model before it."""
    for number in plan.counts(pruned.heads):
        pruned = pruned.without(importance(pruned), number, plan.keep)
        yield pruned
