"""Attention of each head to the links of each sentence, and to their baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.statistics.columns import Columns

DIRECTIONS = ("source_to_target", "target_to_source", "either")
# Relations beyond so many are in "all" alone.
MOST = 40


@dataclass(frozen=True)
class LinkAttention(Columns):
    """A row for each relation of each input that has a link of it, in the order of the corpus.

    Ten thousand rows and a BERT-base make 35 MB: all numbers of the study are made from this.

    * `input`: the number of the input, `unit`: of its document; `length`: how many tokens the input has.
    * `relation`, `links`: of how many links.
    * `linked`: the largest attention of any token of a source to any of its target (direction 0), and back (1).
    * `elsewhere`: the same for links elsewhere; `others`: from other words to the same end (see `Baselines`); NaN where
      one of the links has no baseline.
    """

    input: Int[np.ndarray, " row"]
    unit: Int[np.ndarray, " row"]
    length: Int[np.ndarray, " row"]
    relation: np.ndarray
    links: Int[np.ndarray, " row"]
    linked: Float[np.ndarray, "row head 2"]
    elsewhere: Float[np.ndarray, "row head 2"]
    others: Float[np.ndarray, "row head 2"]

    @property
    def compared(self) -> Bool[np.ndarray, " row"]:
        """Mask of the rows that have baselines."""
        return ~np.isnan(self.elsewhere[:, 0, 0])

    def by_relation(self, apart: Sequence[str] = ()) -> Mapping[str, "LinkAttention"]:
        """The rows of "all", one for each input, and of each relation, the most frequent first.

        * `apart`: relations that are not in "all".
        """
        names, counts = np.unique(self.relation, return_counts=True)
        order = [name for _, name in sorted(zip(-counts, names.tolist(), strict=True))[:MOST]]
        every = self[~np.isin(self.relation, apart)].by_input()
        return {"all": every} | {name: self[self.relation == name] for name in order}

    def by_input(self) -> "LinkAttention":
        """One row for each input: the largest of all its links; no baseline if one of them has none."""
        inputs, starts = np.unique(self.input, return_index=True)
        if not len(inputs):
            return self
        return LinkAttention(
            inputs,
            self.unit[starts],
            self.length[starts],
            np.full(len(inputs), "all"),
            np.add.reduceat(self.links, starts),
            np.maximum.reduceat(self.linked, starts),
            np.maximum.reduceat(self.elsewhere, starts),
            np.maximum.reduceat(self.others, starts),
        )


def joined(parts: Sequence[LinkAttention]) -> LinkAttention:
    """The rows of several batches, in the order of the corpus."""
    whole = LinkAttention.concatenate(parts)
    return whole[np.lexsort((whole.relation, whole.input))]


def with_either(values: Float[np.ndarray, "row head 2"]) -> Float[np.ndarray, "row head direction"]:
    """Values for each of `DIRECTIONS`: of both, the larger.

    >>> with_either(np.array([[[0.5, 0.25]]])).tolist()
    [[[0.5, 0.25, 0.5]]]
    """
    return np.concatenate([values, values.max(-1, keepdims=True)], axis=-1)
