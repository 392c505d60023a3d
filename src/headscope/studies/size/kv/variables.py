"""Means over texts with their intervals, as variables of a result; and the texts that choose a plan and judge it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.statistics.intervals import LEAST_DOCUMENTS, of_differences
from headscope.statistics.split_half import split_in_half

Half = Bool[np.ndarray, " text"]
There = Bool[np.ndarray, "layer key_head"]
Values = Float[np.ndarray, "text number"]


@dataclass(frozen=True)
class HalvedTexts:
    """Texts: one half chooses the plan, the other judges it; if too few, all choose and none judges."""

    number: int
    settings: Settings

    @property
    def all(self) -> Half:
        """All texts."""
        return np.full(self.number, True)

    @property
    def are_judged(self) -> bool:
        """Whether both halves have enough texts for an interval."""
        return self.number >= 2 * LEAST_DOCUMENTS

    @property
    def choosing(self) -> Half:
        """The texts that choose, by the seed."""
        return split_in_half(self.number, self.settings.seed) if self.are_judged else self.all

    def mean(self, values: Values, half: Half) -> Tally:
        """The means of some numbers of the texts of a half."""
        draws = poisson_draws(np.flatnonzero(half), self.settings.seed, self.settings.resamples)
        return tally(values, np.full(len(values), True), draws)

    def add(
        self, variables: Variables, name: str, values: Values, there: Bool[np.ndarray, "..."] | None = None
    ) -> None:
        """Add the means over all texts, or over those that judge if the values are only theirs.

        * `there`: where the numbers of a text stand in a larger array; one number without it.
        """
        means = self.mean(values, self.all if len(values) == self.number else ~self.choosing)
        label = variables.labels[name]
        interval = means.share_interval if label.unit.startswith("share") else means.interval
        if name.endswith("fall"):
            interval = of_differences(means.interval, means.units)
        if means.count < LEAST_DOCUMENTS:
            interval = np.full_like(interval, np.nan)
        count = Count(int(means.count), f"texts with {label.what}", "texts")
        if there is None:
            variables.add(name, means.mean[0], interval=interval[0], count=count)
            return
        placed, bounds = np.full(there.shape, np.nan), np.full((*there.shape, 2), np.nan)
        placed[there], bounds[there] = means.mean, interval
        variables.add(name, placed, interval=bounds, count=count)


def judgement(variables: Variables) -> dict[str, Any]:
    """What a plan costs on the texts that judge it, for its file."""
    rise, bounds, texts = (variables.arrays[f"plan_rise{end}"].values.tolist() for end in ("", "_ci", "_n_examples"))
    return {"loss_rise": rise, "interval": bounds, "judged_on_texts": texts}
