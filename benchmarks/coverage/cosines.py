"""Mean cosines of tokens, and their intervals in samples of a corpus."""

from dataclasses import dataclass

import numpy as np
from benchmarks.coverage.numbers import Estimate, Sample, Values
from jaxtyping import Float, Int

from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.studies.geometry.mean_cosine import mean_cosine, mean_cosine_score
from headscope.studies.geometry.samples import CONTEXTS
from headscope.studies.geometry.similarity import LEAST_CONTEXTS


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

    def value(self) -> Values:
        """See `Number`."""
        documents = self.tokens.document[self.tokens.sentence]
        return mean_cosine_score(self.tokens.spaces(), documents, np.ones((1, documents.max() + 1))).mean

    def of(self, sample: Sample) -> Estimate:
        """See `Number`."""
        parts = self.tokens.of(sample.rows)
        unit = np.repeat(sample.unit, [len(part) for part in parts])
        _, first = np.unique(sample.unit, return_index=True)
        score = mean_cosine_score(self.tokens.spaces(np.concatenate(parts)), unit, sample.draws[:, first])
        return score.resampled, score.interval


@dataclass(frozen=True)
class SelfSimilarity:
    """The mean cosine of the occurrences of a token, over tokens of the vocabulary, as are its intervals.

    A document that a sample has twice counts once: its tokens are no other occurrences.
    """

    tokens: Tokens

    def value(self) -> Values:
        """See `Number`."""
        return self._by_token(np.arange(len(self.tokens.document))).mean(0)

    def of(self, sample: Sample) -> Estimate:
        """See `Number`."""
        values = self._by_token(np.unique(sample.rows))
        draws = poisson_draws(np.arange(len(values)) + int(sample.rows.sum()), 0, len(sample.draws))
        means = tally(values, np.ones(len(values), dtype=bool), draws)
        return means.resampled_total / np.maximum(means.resampled_count, 1)[:, None], means.interval

    def _by_token(self, rows: np.ndarray) -> Float[np.ndarray, "type space"]:
        there = np.random.default_rng(0).permutation(np.concatenate(self.tokens.of(rows)))
        order = there[np.argsort(self.tokens.token[there], kind="stable")]
        _, starts = np.unique(self.tokens.token[order], return_index=True)
        groups = [group[:CONTEXTS] for group in np.split(order, starts[1:]) if len(group) >= LEAST_CONTEXTS]
        return np.array([mean_cosine(np.stack(self.tokens.spaces(group))) for group in groups])
