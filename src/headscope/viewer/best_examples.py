"""The examples in which each head has its highest values: a tally that can be merged."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int

NONE = -1


@dataclass(frozen=True, eq=False)
class BestExamples:
    """The examples of each head with the highest values, the highest first; of equal values the first in the corpus.

    * `values`: -inf where there are fewer examples; `examples`: their numbers in the corpus, and there -1.
    """

    values: Float[np.ndarray, "head rank"]
    examples: Int[np.ndarray, "head rank"]

    @classmethod
    def none(cls, heads: int, number: int) -> Self:
        """No examples yet, and room for `number` of each head."""
        return cls(np.full((heads, number), -np.inf, np.float32), np.full((heads, number), NONE, np.int64))

    def add(self, examples: Int[np.ndarray, " example"], values: Float[np.ndarray, "example head"]) -> Self:
        """These and further examples.

        >>> best = BestExamples.none(heads=1, number=2).add(np.array([5, 6, 7]), np.array([[0.25], [0.75], [0.5]]))
        >>> best.examples.tolist(), best.values.tolist()
        ([[6, 7]], [[0.75, 0.5]])
        """
        columns = np.broadcast_to(examples, values.T.shape)  # [head, example]
        return self.merge(type(self)(values.T.astype(np.float32), columns))

    def before(self, other: "BestExamples") -> Self:
        """These, and in the places that are left the first of another tally.

        >>> first = BestExamples.none(1, 2).add(np.array([5]), np.array([[0.25]]))
        >>> first.before(BestExamples.none(1, 2).add(np.array([6, 7]), np.array([[0.5], [0.75]]))).examples.tolist()
        [[5, 7]]
        """
        values, examples = (
            np.concatenate(pair, axis=1) for pair in ((self.values, other.values), (self.examples, other.examples))
        )
        order = np.argsort(examples == NONE, axis=1, kind="stable")[:, : self.values.shape[1]]
        return type(self)(np.take_along_axis(values, order, 1), np.take_along_axis(examples, order, 1))

    def merge(self, other: "BestExamples") -> Self:
        """These and the examples of another tally, of which none is the same."""
        number = self.values.shape[1]
        values = np.concatenate([self.values, other.values], axis=1)
        examples = np.concatenate([self.examples, other.examples], axis=1)
        order = np.lexsort((examples, -values), axis=1)[:, :number]
        return type(self)(np.take_along_axis(values, order, 1), np.take_along_axis(examples, order, 1))
