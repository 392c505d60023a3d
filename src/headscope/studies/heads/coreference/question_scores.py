"""Scores of a corpus that asks questions: F1 by the gender of the pronoun (GAP), effects of stereotypes on heads.

F1 is that of Webster et al. (2018, section 4). Of the two names, a head calls the one that the pronoun looks at more
coreferent, and the other not. Over all names, a true positive is one that is coreferent and called so;
F1 = 2 TP / (called + coreferent).

WinoBias and Winogender have pairs of sentences that differ in the gender of a pronoun. In the pro sentence it has the
gender that is expected of the first candidate's occupation, in the anti sentence the other gender. Compared are the
attention of the pronoun to that candidate, and how often a head prefers it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.stats import ttest_1samp

from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.intervals import effective_units, interval
from headscope.statistics.significance import mcnemar
from headscope.studies.heads.coreference.scores import GENDERS, AntecedentPredictions, Draws

GENDER_NAMES = (*GENDERS.values(), "overall")
STEREOTYPES = ("pro", "anti")


@dataclass(frozen=True)
class F1:
    """F1 of each way to choose, by gender, and F1 feminine / F1 masculine; with their 95% intervals over passages."""

    f1: Float[np.ndarray, "way gender"]
    f1_interval: Float[np.ndarray, "way gender 2"]
    ratio: Float[np.ndarray, " way"]
    ratio_interval: Float[np.ndarray, "way 2"]


def f1(right: Float[np.ndarray, "case way"], cases: AntecedentPredictions, draws: Draws) -> F1:
    """The scores of several ways to choose, from whether each is right about each question (or how probably)."""
    hits, called, coreferent = _by_gender(right, cases)
    drawn = draws[:, cases.unit].astype(float)
    value = _f1(hits.sum(0), called.sum(0), coreferent.sum(0))
    resampled = _f1(np.tensordot(drawn, hits, axes=1), drawn @ called, drawn @ coreferent)
    passages = effective_units(drawn @ called)  # [gender]
    ratio = interval(_ratio(resampled), passages[: len(GENDERS)].min())
    return F1(value, interval(resampled, passages), _ratio(value), ratio)


def pronoun_counts(cases: AntecedentPredictions) -> list[int]:
    """Number of pronouns of each of `GENDER_NAMES`."""
    return [int(mask.sum()) for mask in _genders(cases).T]


def _by_gender(right: np.ndarray, cases: AntecedentPredictions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Names called coreferent and so [case, way, gender], names called so, and coreferent names [case, gender]."""
    masks = _genders(cases)
    coreferent = masks * cases.answerable[:, None].astype(float)
    return right[:, :, None] * masks[:, None], masks.astype(float), coreferent


def _genders(cases: AntecedentPredictions) -> Bool[np.ndarray, "case gender"]:
    return np.stack([*(cases.gender == name for name in GENDERS.values()), np.ones(len(cases), bool)], axis=1)


def _f1(hits: np.ndarray, called: np.ndarray, coreferent: np.ndarray) -> np.ndarray:
    """[..., way, gender] from hits [..., way, gender] and counts [..., gender]."""
    both = np.broadcast_to((called + coreferent)[..., None, :], hits.shape)
    return np.divide(2 * hits, both, out=np.full(hits.shape, np.nan), where=both > 0)


def _ratio(value: np.ndarray) -> np.ndarray:
    masculine, feminine = value[..., 0], value[..., 1]
    return np.divide(feminine, masculine, out=np.full(masculine.shape, np.nan), where=masculine > 0)


@dataclass(frozen=True)
class Pairs:
    """The cases of both sentences of each pair, in the same order; of a model with this many heads."""

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
        # whether it points at the right one is known
        sides = [cases.unpacked(self.heads) == cases.first[:, None] for cases in (self.pro, self.anti)]
        return np.stack(sides, axis=1).astype(np.int64)

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
    indices: dict[str, dict[str, int]] = {}
    for index, (pair, stereotype) in enumerate(zip(cases.pair.tolist(), cases.stereotype.tolist(), strict=True)):
        if stereotype in STEREOTYPES:
            indices.setdefault(pair, {})[stereotype] = index
    both = [pair for pair in indices.values() if len(pair) == 2]
    pro, anti = (cases[np.array([pair[name] for pair in both], dtype=np.int64)] for name in STEREOTYPES)
    return Pairs(pro, anti, heads)
