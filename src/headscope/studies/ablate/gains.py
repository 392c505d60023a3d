"""Gains of a score with paired bootstrap intervals, and the exact test of McNemar."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from headscope.corpora.tasks import LOWER_IS_BETTER, resampled, score
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import interval


@dataclass(frozen=True)
class Gains:
    """Scores of variants of a model, and what they gain over it, resampled together.

    * `outputs`: of the variants; `before`: of the model; `targets`: the answers.
    * `index`: the number of each example in its corpus, which its draws depend on.

    A gain is positive where the variant is better, also in a loss.
    """

    metrics: Sequence[str]
    outputs: Float[np.ndarray, "variant example output"]
    before: Float[np.ndarray, "example output"]
    targets: Float[np.ndarray, " example"]
    index: Sequence[int]
    seed: int
    resamples: int

    @cached_property
    def scores(self) -> Float[np.ndarray, "variant metric"]:
        """The scores of the variants, after that of the model."""
        every = np.concatenate([self.before[None], self.outputs])
        return np.stack([score(metric, every, self.targets) for metric in self.metrics], axis=-1)

    @cached_property
    def resampled_scores(self) -> Float[np.ndarray, "resample variant metric"]:
        """Scores of the model and its variants in each resample."""
        every = np.concatenate([self.before[None], self.outputs])
        draws = poisson_draws(self.index, self.seed, self.resamples)
        return np.stack([resampled(metric, every, self.targets, draws) for metric in self.metrics], axis=-1)

    @property
    def signs(self) -> Float[np.ndarray, " metric"]:
        """-1 for a metric of which less is better."""
        return np.where([metric in LOWER_IS_BETTER for metric in self.metrics], -1.0, 1.0)

    @property
    def gains(self) -> Float[np.ndarray, "variant metric"]:
        """Gain of each variant in each metric; positive is better."""
        return (self.scores[1:] - self.scores[0]) * self.signs

    @cached_property
    def resampled_gains(self) -> Float[np.ndarray, "resample variant metric"]:
        """Gains of the variants in each resample."""
        return (self.resampled_scores[:, 1:] - self.resampled_scores[:, :1]) * self.signs

    @property
    def interval(self) -> Float[np.ndarray, "variant metric 2"]:
        """The 95% paired bootstrap interval of the gains."""
        return interval(self.resampled_gains)

    def part(self, examples: np.ndarray, variants: np.ndarray | slice = slice(None)) -> "Gains":
        """The same of some examples and variants."""
        return Gains(
            self.metrics,
            self.outputs[variants][:, examples],
            self.before[examples],
            self.targets[examples],
            [self.index[example] for example in examples.tolist()],
            self.seed,
            self.resamples,
        )
