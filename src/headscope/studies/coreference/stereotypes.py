"""Effects of stereotypes on heads: pairs of sentences that differ in the gender of a pronoun (WinoBias, Winogender).

In the pro sentence of a pair the pronoun has the gender that is expected of the first candidate's occupation, in the
anti sentence the other gender. Compared are the attention of the pronoun to that candidate, and how often a head
prefers it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import ttest_1samp

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import mcnemar
from headscope.studies.coreference.predictions import AntecedentPredictions
from headscope.studies.coreference.scores import Draws

STEREOTYPES = ("pro", "anti")


@dataclass(frozen=True)
class Pairs:
    """The cases of both sentences of each pair, in the same order; of a model with so many heads."""

    pro: AntecedentPredictions
    anti: AntecedentPredictions
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
        """P-value that the attention is the same in both sentences (paired t-test, two-sided)."""
        gaps = self.attention[:, 0] - self.attention[:, 1]
        # Heads that give both the same show no gap, which a t-test cannot say.
        moved = np.ptp(gaps, axis=0) > 0
        p = np.ones(gaps.shape[1])
        tested: Any = ttest_1samp(gaps[:, moved], 0)
        p[moved] = tested.pvalue
        return p

    def preferred_p(self) -> Float[np.ndarray, " head"]:
        """P-value that the candidate is preferred equally often in both sentences (exact McNemar, two-sided)."""
        pro, anti = self.preferred[:, 0].T > 0, self.preferred[:, 1].T > 0  # each [head, pair]
        return mcnemar(pro, anti)

    def tallied(self, values: np.ndarray, draws: Draws) -> tuple[Tally, Tally]:
        """Tally values [pair, stereotype, head].

        Returns: the tally of both sentences [stereotype, head], and that of the gap [head].
        """
        gap = values[:, 0].astype(float) - values[:, 1]
        return tally_by_input(values, self.pro.unit, draws), tally_by_input(gap, self.pro.unit, draws)


def pairs(cases: AntecedentPredictions, heads: int) -> Pairs:
    """The pairs among some cases; sentences without a partner are left out."""
    places: dict[str, dict[str, int]] = {}
    for place, (pair, stereotype) in enumerate(zip(cases.pair.tolist(), cases.stereotype.tolist(), strict=True)):
        if stereotype in STEREOTYPES:
            places.setdefault(pair, {})[stereotype] = place
    both = [pair for pair in places.values() if len(pair) == 2]
    pro, anti = (cases[np.array([pair[name] for pair in both], dtype=np.int64)] for name in STEREOTYPES)
    return Pairs(pro, anti, heads)


def _preferred(cases: AntecedentPredictions, heads: int) -> np.ndarray:
    """1 where a head points at the first candidate, derived from whether it points at the right one."""
    return (cases.unpacked(heads) == cases.first[:, None]).astype(np.int64)
