"""The largest loss of a smaller model, tested on examples that did not choose it.

Where heads were ranked on other examples, the steps are tested in their order on all of these, and the first that
fails ends it: a promise is broken as rarely as by a single test (fixed-sequence test, Maurer et al. 1995). Else one
half of the examples ranks them and chooses their number, and the other tests it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from headscope.corpora.tasks import LOWER_IS_BETTER, resampled, score
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.split_half import split_in_half

# Metrics of answers that are right or wrong: where no answer is lost, their bootstrap knows of no loss at all.
OF_ANSWERS = ("accuracy", "f1", "macro_f1", "matthews", "class_agreement", "macro_f1_agreement")
# With this many lost answers beside those seen, the bound of a rare loss is exceeded in at most 2.5% of cases.
UNSEEN = 2

Outputs = Float[np.ndarray, "example output"]


@dataclass(frozen=True)
class Promise:
    """A main metric that is lower by less than `tolerance` (of a loss: higher).

    * `targets`: of the dev examples; `units`: the number of what is resampled as a whole, for each of them.
    * `in_order`: whether the steps are tested in their order on all examples; else one half chooses the number of
      heads, and the other tests it.
    """

    metric: str
    targets: Float[np.ndarray, " example"]
    units: Sequence[int]
    tolerance: float
    seed: int
    resamples: int
    in_order: bool = False

    @cached_property
    def choosing(self) -> Bool[np.ndarray, " example"]:
        """The examples that choose: all, or the half that depends on the seed."""
        if self.in_order:
            return np.full(len(self.targets), True)
        return split_in_half(np.asarray(self.units), self.seed)

    @property
    def testing(self) -> Bool[np.ndarray, " example"]:
        """The examples that test: all, or the other half."""
        return self.choosing if self.in_order else ~self.choosing

    def keeps(self, before: Outputs, after: Outputs) -> bool:
        """Whether the examples that choose show that no more than the tolerance is lost."""
        return bool(self.gain(before, after, choosing=True)[1] > -self.tolerance)

    def gain(self, before: Outputs, after: Outputs, *, choosing: bool) -> Float[np.ndarray, " 3"]:
        """The gain on the examples that choose or test, below 0 where the score is worse, and its 95% interval."""
        half = self.choosing if choosing else self.testing
        if half.sum() < 2:
            return np.full(3, np.nan)
        outputs, targets = np.stack([before, after])[:, half], self.targets[half]
        before_after = score(self.metric, outputs, targets)
        lower, upper = self._interval(outputs, targets, choosing)
        if self.metric in OF_ANSWERS:
            lower = min(lower, self._interval(*self._with_unseen(outputs, targets), choosing)[0])
        return np.array([self._sign * (before_after[1] - before_after[0]), lower, upper])

    @property
    def _sign(self) -> int:
        return -1 if self.metric in LOWER_IS_BETTER else 1

    def _interval(self, outputs: np.ndarray, targets: np.ndarray, choosing: bool) -> np.ndarray:
        draws = self._draws[choosing][:, : len(targets)]
        scores = resampled(self.metric, outputs, targets, draws)
        return interval(self._sign * (scores[:, 1] - scores[:, 0]), equal_units(self._units[choosing][: len(targets)]))

    @cached_property
    def _draws(self) -> dict[bool, np.ndarray]:
        """Draws of the examples that choose and that test, then of the lost answers beside those seen."""
        return {which: poisson_draws(units, self.seed, self.resamples) for which, units in self._units.items()}

    @cached_property
    def _units(self) -> dict[bool, list[int]]:
        """The units of the examples that choose and that test, then of the lost answers beside those seen."""
        units, more = np.asarray(self.units), range(len(self.targets), len(self.targets) + UNSEEN)
        halves = {True: units[self.choosing], False: units[self.testing]}
        return {which: [*half.tolist(), *more] for which, half in halves.items()}

    def _with_unseen(self, outputs: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The outputs and targets with lost answers of the class whose loss costs most."""
        right = outputs[0].argmax(-1) == targets
        wider = []
        for label in np.unique(targets[right]):
            lost = outputs[0][right & (targets == label)][:1]
            more = np.repeat(np.stack([lost, -lost]), UNSEEN, axis=1)
            wider.append((np.concatenate([outputs, more], axis=1), np.append(targets, [label] * UNSEEN)))
        return min(wider, key=lambda both: float(score(self.metric, both[0][1], both[1])), default=(outputs, targets))
