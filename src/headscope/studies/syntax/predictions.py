"""Predictions of a model's heads about the words of a treebank, one bit for each prediction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Int, UInt8

from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.columns import Columns

LEFT_OUT = ("punct", "root")


@dataclass(frozen=True)
class HeadPredictions(Columns):
    """A row for each word, in the order of the corpus; a hundred thousand words and a BERT-base make 4 MB.

    * `input`: the number of the input that the word is in; `word`: its own number there.
    * `place`: of the word in its sentence, `head`: of its syntactic head, -1 for a root; `length`: of the sentence.
    * `relation`: of the word to its head.
    * `right`: whether each head of the model, in each of `results.DIRECTIONS`, points at the syntactic head; packed.
    """

    input: Int[np.ndarray, " word"]
    word: Int[np.ndarray, " word"]
    place: Int[np.ndarray, " word"]
    head: Int[np.ndarray, " word"]
    length: Int[np.ndarray, " word"]
    relation: np.ndarray
    right: UInt8[np.ndarray, "word byte"]

    def unpacked(self, heads: int) -> UInt8[np.ndarray, "word head direction"]:
        """1 where a head is right; heads of all layers stand in a row."""
        bits = np.unpackbits(self.right, axis=1, count=heads * len(DIRECTIONS))
        return bits.reshape(len(self), heads, len(DIRECTIONS))  # [word, head, direction]

    def by_relation(self, everything: bool = False) -> Mapping[str, "HeadPredictions"]:
        """The words of "all" and of each relation, the most frequent first; roots are no relation.

        * `everything`: "all" has punctuation and roots, too.
        """
        names, counts = np.unique(self.relation, return_counts=True)
        order = sorted(zip(-counts, names.tolist(), strict=True))
        kinds = {name: self[self.relation == name] for _, name in order if name != "root"}
        base = np.array([name.partition(":")[0] for name in names])[np.searchsorted(names, self.relation)]
        return {"all": self if everything else self[~np.isin(base, LEFT_OUT)]} | kinds


def packed(right: np.ndarray) -> UInt8[np.ndarray, "word byte"]:
    """[word, head, direction] as bits."""
    return np.packbits(right.reshape(len(right), prod(right.shape[1:])), axis=1)  # [word, bits of all heads]


def joined(parts: Sequence[HeadPredictions]) -> HeadPredictions:
    """The predictions of several batches, in the order of the corpus."""
    whole = HeadPredictions.concatenate(parts)
    return whole[np.lexsort((whole.word, whole.input))]
