"""Means over the sentences of a corpus, and their intervals in samples of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.statistics.intervals import Score

RESAMPLES = 400
Rows = Int[np.ndarray, " sentence"]
Values = Float[np.ndarray, " column"]
# The values in all resamples, and the 95% intervals that headscope makes of them.
Estimate = tuple[Float[np.ndarray, "resample column"], Float[np.ndarray, "column 2"]]


@dataclass(frozen=True)
class Sample:
    """Some sentences of a corpus, perhaps several times, and their resamples.

    * `rows`: their numbers in the corpus; `unit`: of each the number, from 0, of what is drawn with it.
    * `draws`: how often each resample has each of them.
    """

    rows: Rows
    unit: Int[np.ndarray, " sentence"]
    draws: Float[np.ndarray, "resample sentence"]


def sample_of(rows: Rows, unit: Int[np.ndarray, " sentence"], number: int) -> Sample:
    """The sample of a number, by which its resamples are drawn."""
    return Sample(rows, unit, poisson_draws(unit + 1_000_000 * number, 0, RESAMPLES))


class Number(Protocol):
    """A number of each head, layer or probe."""

    def value(self, sample: Sample) -> Values:
        """That of the corpus, or of what is in it like a sample, where a sample has not all of its kinds."""
        ...

    def of(self, sample: Sample) -> Estimate:
        """Its resamples and intervals in a sample."""
        ...


@dataclass(frozen=True)
class Numbers:
    """Numbers of a study by name, and the document, from 0, of each sentence of its corpus."""

    document: Int[np.ndarray, " sentence"]
    by_name: Mapping[str, Number]


def from_zero(units: object) -> Int[np.ndarray, " sentence"]:
    """Numbers of documents, counted from 0."""
    return np.unique(np.asarray(units), return_inverse=True)[1]


@dataclass(frozen=True)
class Sums:
    """A mean over the cases (words, links, inputs) of all sentences: the sums and the cases of each.

    * `share`: whether each case is right or wrong.
    """

    totals: Float[np.ndarray, "sentence column"]
    cases: Int[np.ndarray, " sentence"]
    share: bool = False

    def value(self, sample: Sample) -> Values:
        """See `Number`."""
        return self.totals.sum(0) / self.cases.sum()

    def of(self, sample: Sample) -> Estimate:
        """See `Number`."""
        sums = tally(self.totals[sample.rows], self.cases[sample.rows], sample.draws)
        resampled = sums.resampled_total / np.maximum(sums.resampled_count, 1)[:, None]
        return resampled, sums.share_interval if self.share else sums.interval


@dataclass(frozen=True)
class Scores:
    """A score that a study makes itself, from the numbers of sentences and their draws.

    * `kind`: of each sentence, if a score is a mean over the kinds (such as lengths) that a sample has.
    """

    score: Callable[[Rows, Float[np.ndarray, "resample sentence"]], Score]
    kind: Int[np.ndarray, " sentence"]

    def value(self, sample: Sample) -> Values:
        """See `Number`."""
        rows = np.flatnonzero(np.isin(self.kind, self.kind[sample.rows]))
        return self.score(rows, np.ones((1, len(rows)))).mean

    def of(self, sample: Sample) -> Estimate:
        """See `Number`."""
        score = self.score(sample.rows, sample.draws)
        return score.resampled, score.interval
