"""Predictions of a model's heads about the words of a treebank, one byte for each prediction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.linguistics.dependencies import ROOT
from headscope.linguistics.fixed_words import FixedWord, best_fixed_word
from headscope.statistics.columns import Columns

LEFT_OUT = ("punct", "root")
# The offsets that the released code tries.
AS_CODED = range(-3, 3)
# What a prediction counts that is shared by so many words.
SHARES = 1 / np.maximum(np.arange(256), 1) * (np.arange(256) > 0)


@dataclass(frozen=True)
class HeadPredictions(Columns):
    """A row for each word, in the order of the corpus; a hundred thousand words and a BERT-base make 29 MB.

    * `input`: the number of the input that the word is in, `unit`: of its document; `word`: its own number there.
    * `place`: of the word in its sentence, `head`: of its syntactic head, -1 for a root; `length`: of the sentence.
    * `relation`: of the word to its head.
    * `equals`: how many words each head of the model predicts alike, in each of `results.DIRECTIONS`, where the
      syntactic head is one of them; 0 where it is not, 255 for more.
    """

    input: Int[np.ndarray, " word"]
    unit: Int[np.ndarray, " word"]
    word: Int[np.ndarray, " word"]
    place: Int[np.ndarray, " word"]
    head: Int[np.ndarray, " word"]
    length: Int[np.ndarray, " word"]
    relation: np.ndarray
    equals: UInt8[np.ndarray, "word head direction"]

    @property
    def shares(self) -> Float[np.ndarray, "word head direction"]:
        """1 where a head is right, 1/k where the syntactic head is one of k words that it predicts alike."""
        return SHARES.astype(np.float32)[self.equals]

    def by_relation(self, everything: bool = False) -> Mapping[str, "HeadPredictions"]:
        """The words of "all" and of each relation, the most frequent first; roots are no relation.

        * `everything`: "all" has punctuation and roots, too.
        """
        names, counts = np.unique(self.relation, return_counts=True)
        order = sorted(zip(-counts, names.tolist(), strict=True))
        kinds = {name: self[self.relation == name] for _, name in order if name != "root"}
        base = np.array([name.partition(":")[0] for name in names])[np.searchsorted(names, self.relation)]
        return {"all": self if everything else self[~np.isin(base, LEFT_OUT)]} | kinds


def hits(words: HeadPredictions, fixed: FixedWord, as_coded: bool = False) -> Bool[np.ndarray, " word"]:
    """For which words the head is the fixed word.

    An offset that leads out of the sentence is wrong; the released code stops at the sentence's ends.
    """
    predicted = fixed.places(words.place, words.length)
    if as_coded:
        predicted = np.clip(predicted, 0, words.length - 1)
    return (predicted == words.head) & (words.head != ROOT)


def best_baseline(words: HeadPredictions, as_coded: bool = False) -> FixedWord:
    """The fixed word that is right for most of the words; the released code tries the offsets -3 to 2 alone."""
    if not as_coded:
        return best_fixed_word(words.place, words.head, words.length)
    return min(map(FixedWord, AS_CODED), key=lambda fixed: (-hits(words, fixed, True).sum(), abs(fixed.offset), fixed))


def joined(parts: Sequence[HeadPredictions]) -> HeadPredictions:
    """The predictions of several batches, in the order of the corpus."""
    whole = HeadPredictions.concatenate(parts)
    return whole[np.lexsort((whole.word, whole.input))]
