"""Mean cosines of tokens, and their intervals in samples of a corpus."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from benchmarks.coverage.numbers import Estimate, Sample, Values
from jaxtyping import Float, Int

from headscope.studies.layers.geometry.mean_cosine import mean_cosine_score


@dataclass(frozen=True)
class Tokens:
    """Vectors of tokens of length 1, by sentence, each with its number in the vocabulary.

    * `document`: of each sentence.
    """

    vectors: Float[np.ndarray, "token space width"]
    sentence: Int[np.ndarray, " token"]
    token: Int[np.ndarray, " token"]
    document: Int[np.ndarray, " sentence"]

    def of(self, rows: np.ndarray) -> list[Int[np.ndarray, " token"]]:
        """The numbers of the tokens of some sentences."""
        first, last = (np.searchsorted(self.sentence, rows, side=side) for side in ("left", "right"))
        return [np.arange(*ends) for ends in zip(first, last, strict=True)]

    def spaces(self, tokens: np.ndarray | slice = slice(None)) -> list[Float[np.ndarray, "token width"]]:
        """The vectors of some tokens by space."""
        return [self.vectors[tokens, space].astype(np.float32) for space in range(self.vectors.shape[1])]


@dataclass(frozen=True)
class Anisotropy:
    """The mean cosine of tokens of different documents."""

    tokens: Tokens

    def value(self, sample: Sample) -> Values:
        """See `Number`."""
        return self._of_corpus

    @cached_property
    def _of_corpus(self) -> Values:
        documents = self.tokens.document[self.tokens.sentence]
        return mean_cosine_score(self.tokens.spaces(), documents, np.ones((1, documents.max() + 1))).mean

    def of(self, sample: Sample) -> Estimate:
        """See `Number`."""
        parts = self.tokens.of(sample.rows)
        unit = np.repeat(sample.unit, [len(part) for part in parts])
        _, first = np.unique(sample.unit, return_index=True)
        score = mean_cosine_score(self.tokens.spaces(np.concatenate(parts)), unit, sample.draws[:, first])
        return score.resampled, score.interval
