"""How often pieces occur in a corpus or are predicted, and five classes of that with equal numbers of tokens.

Counted are the tokens of the class "other": no special token, no "." and "," unless they are asked for, nor the first
token of an input without special tokens. Heads look at these in any case, and `attention_to` has them.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.encoding.encoded import CLASS, Encoded
from headscope.results.vocabulary import FREQUENCIES
from headscope.storage.hashes import hash_of


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequencies of the pieces of a corpus.

    * `counts`: how often each piece stands in it, or is predicted, by its id.
    * `causal`: whether the tokens of the model see none that are after them.
    * `standing`: of predictions, how often each piece stands in the corpus; of a list, the frequency that it gives it.
    * `listed`: of a list, the frequency that each number of `counts` stands for: these are the places of frequencies, 0
      of a piece that the list lacks, which is in no class.
    * `punctuation`: whether "." and "," are counted.

    >>> pieces = Frequencies(np.array([0, 1, 1, 2, 4]))
    >>> pieces.classes[pieces.counts].tolist()
    [-1, 0, 0, 1, 3]
    >>> Frequencies(np.array([0, 9, 9, 3]), standing=np.array([2, 1, 1, 1])).classes[[0, 3, 9]].tolist()
    [1, 2, 4]
    """

    counts: Int[np.ndarray, " piece"]
    causal: bool = False
    standing: Int[np.ndarray, " piece"] | Float[np.ndarray, " piece"] | None = None
    listed: Float[np.ndarray, " count"] | None = None
    punctuation: bool = False

    @classmethod
    def of_list(cls, frequency: Float[np.ndarray, " piece"], causal: bool, punctuation: bool = False) -> "Frequencies":
        """The frequencies that a list gives pieces, 0 for one that it lacks.

        >>> of_list = Frequencies.of_list(np.array([0, 0.5, 3, 0.5]), causal=False)
        >>> of_list.counts.tolist(), of_list.classes.tolist()
        ([0, 1, 2, 1], [-1, 0, 3])
        """
        values, places = np.unique(np.concatenate([[0.0], frequency]), return_inverse=True)
        return cls(places[1:], causal, frequency, values, punctuation)

    @cached_property
    def tokens(self) -> Float[np.ndarray, " count"]:
        """The number of tokens whose pieces have each count."""
        standing = self.counts if self.standing is None else self.standing
        return np.bincount(self.counts, standing)

    @cached_property
    def classes(self) -> Int[np.ndarray, " count"]:
        """The number of the class in `results.FREQUENCIES` of each count; -1 for one that no piece has.

        A class has a fifth of the tokens, as nearly as pieces of the same count allow, which stay together.
        """
        middle = (np.cumsum(self.tokens) - self.tokens / 2) / (self.tokens.sum() or 1)
        return np.where(self.tokens > 0, (middle * len(FREQUENCIES)).astype(int), -1)

    @cached_property
    def sha256(self) -> str:
        """The first characters of a hash of the counts."""
        listed = b"" if self.listed is None else self.listed.tobytes()
        return hash_of([self.counts.tobytes(), *filter(None, [listed, b"punctuation" * self.punctuation])])

    def added_to(self, encoded: Encoded) -> Encoded:
        """The input with the count and the class of each of its counted tokens, -1 for others; what each token sees."""
        count, frequency = self._of_tokens(encoded)
        seen = np.arange(1, len(encoded) + 1) if self.causal else np.full(len(encoded), len(encoded))
        return replace(encoded, count=count, frequency=frequency, seen=seen)

    def added_as_predictions(self, encoded: Encoded) -> Encoded:
        """The input with how often the piece of each counted token is predicted, and the class of that."""
        predicted, predicted_class = self._of_tokens(encoded)
        return replace(encoded, predicted=predicted, predicted_class=predicted_class)

    def _of_tokens(self, encoded: Encoded) -> tuple[Int[np.ndarray, " token"], Int[np.ndarray, " token"]]:
        in_text, count = counted(encoded.token_class, self.punctuation), np.full(len(encoded), -1)
        count[in_text] = self.counts[encoded.inputs["input_ids"][in_text]]
        if self.listed is not None:
            count[count == 0] = -1
        return count, np.where(count >= 0, self.classes[count], -1)


def counted(token_class: Int[np.ndarray, " token"], punctuation: bool = False) -> Bool[np.ndarray, " token"]:
    """Mask of the tokens of the class "other", without the first token of an input that has no special tokens.

    * `punctuation`: whether "." and "," are counted, too.

    >>> counted(np.array([0, 3, 2, 3, 1])).tolist(), counted(np.array([3, 2, 3]), punctuation=True).tolist()
    ([False, True, False, True, False], [False, True, True])
    """
    in_text = np.isin(token_class, [CLASS["other"], *([CLASS["punct"]] if punctuation else [])])
    if not np.isin(token_class, [CLASS["cls"], CLASS["sep"]]).any():
        in_text[:1] = False
    return in_text
