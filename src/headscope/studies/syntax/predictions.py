"""Which heads of a model are right about which words of a treebank, one bit for each answer."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod

import numpy as np
from jaxtyping import Int, UInt8

from headscope.results.vocabulary import DIRECTIONS

LEFT_OUT = ("punct", "root")


@dataclass(frozen=True)
class Answers:
    """A row for each word that was asked about, in the order of the corpus.

    A hundred thousand words and a BERT-base make 4 MB: everything that is said of words and heads is made from this.

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

    def __len__(self) -> int:
        return len(self.input)

    def __getitem__(self, chosen: np.ndarray) -> "Answers":
        """Some of the words: their numbers, or which they are."""
        return Answers(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def unpacked(self, heads: int) -> UInt8[np.ndarray, "word head direction"]:
        """1 where a head is right; heads of all layers stand in a row."""
        bits = np.unpackbits(self.right, axis=1, count=heads * len(DIRECTIONS))
        return bits.reshape(len(self), heads, len(DIRECTIONS))

    def by_relation(self, everything: bool = False) -> dict[str, "Answers"]:
        """The words of "all" and of each relation, the most frequent first; roots are no relation.

        "all" is without punctuation and roots, or really all words (`everything`).
        """
        names, counts = np.unique(self.relation, return_counts=True)
        order = sorted(zip(-counts, names.tolist(), strict=True))
        kinds = {name: self[self.relation == name] for _, name in order if name != "root"}
        base = np.array([name.partition(":")[0] for name in names])[np.searchsorted(names, self.relation)]
        return {"all": self if everything else self[~np.isin(base, LEFT_OUT)]} | kinds


def packed(right: np.ndarray) -> UInt8[np.ndarray, "word byte"]:
    """[word, head, direction] as bits."""
    return np.packbits(right.reshape(len(right), prod(right.shape[1:])), axis=1)


def joined(parts: Sequence[Answers]) -> Answers:
    """The answers of several batches, in the order of the corpus."""
    columns = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Answers))
    whole = Answers(*columns)
    return whole[np.lexsort((whole.word, whole.input))]
