"""What stereotypes do to heads: pairs of sentences that differ in the gender of a pronoun (WinoBias, Winogender).

In the pro sentence of a pair the pronoun has the gender that is expected of the first candidate's occupation, in the
anti sentence the other one. Compared are the attention of the pronoun to that candidate, and how often a head prefers
it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import ttest_1samp

from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import mcnemar
from headscope.statistics.split_half import summed
from headscope.studies.coreference.predictions import Answers
from headscope.studies.coreference.scores import Draws

STEREOTYPES = ("pro", "anti")


@dataclass(frozen=True)
class Pairs:
    """The cases of both sentences of each pair, in the same order; of a model with so many heads."""

    pro: Answers
    anti: Answers
    heads: int

    def __len__(self) -> int:
        return len(self.pro)

    def __getitem__(self, chosen: np.ndarray) -> "Pairs":
        """Some of the pairs."""
        return Pairs(self.pro[chosen], self.anti[chosen], self.heads)

    @cached_property
    def attention(self) -> Float[np.ndarray, "pair stereotype head"]:
        """From the pronoun to the first candidate."""
        return np.stack([self.pro.toward, self.anti.toward], axis=1)

    @cached_property
    def preferred(self) -> Int[np.ndarray, "pair stereotype head"]:
        """1 where a head looks at the first candidate more than at the other one."""
        return np.stack([_preferred(each, self.heads) for each in (self.pro, self.anti)], axis=1)

    def attention_p(self) -> Float[np.ndarray, " head"]:
        """Of the attention being the same in both sentences: a paired t-test, two-sided."""
        gaps = self.attention[:, 0] - self.attention[:, 1]
        # Heads that give both the same show no gap, which a t-test cannot say.
        moved = np.ptp(gaps, axis=0) > 0
        p = np.ones(gaps.shape[1])
        tested: Any = ttest_1samp(gaps[:, moved], 0)
        p[moved] = tested.pvalue
        return p

    def preferred_p(self) -> Float[np.ndarray, " head"]:
        """Of the candidate being preferred as often in both: McNemar's exact test, two-sided."""
        pro, anti = self.preferred[:, 0].T > 0, self.preferred[:, 1].T > 0
        return mcnemar(pro, anti)

    def tallied(self, values: np.ndarray, draws: Draws) -> tuple[Tally, Tally]:
        """Of [pair, stereotype, head]: the tally of both, [stereotype, head], and that of the gap, [head]."""
        gap = values[:, 0].astype(float) - values[:, 1]
        return summed(values, self.pro.unit, draws), summed(gap, self.pro.unit, draws)


def pairs(cases: Answers, heads: int) -> Pairs:
    """The pairs among some cases; sentences without a partner are left out."""
    places: dict[str, dict[str, int]] = {}
    for place, (pair, stereotype) in enumerate(zip(cases.pair.tolist(), cases.stereotype.tolist(), strict=True)):
        if stereotype in STEREOTYPES:
            places.setdefault(pair, {})[stereotype] = place
    both = [its for its in places.values() if len(its) == 2]
    pro, anti = (cases[np.array([its[name] for its in both], dtype=np.int64)] for name in STEREOTYPES)
    return Pairs(pro, anti, heads)


def _preferred(cases: Answers, heads: int) -> np.ndarray:
    """Which of two candidates is looked at, from whether that is the right one."""
    return (cases.unpacked(heads) == cases.first[:, None]).astype(np.int64)
