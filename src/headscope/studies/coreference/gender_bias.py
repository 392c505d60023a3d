"""F1 by the gender of the pronoun: the score of GAP (Webster et al. 2018, section 4), of each head and baseline.

Of the two names, a head calls the one that the pronoun looks at more coreferent, and the other not. Over all names,
a true positive is one that is coreferent and called so; F1 = 2 TP / (called + coreferent).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from headscope.statistics.bootstrap import interval
from headscope.studies.coreference.predictions import GENDERS, AntecedentPredictions
from headscope.studies.coreference.scores import Draws

NAMES = (*GENDERS.values(), "overall")


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
    return F1(value, interval(resampled), _ratio(value), interval(_ratio(resampled)))


def counts(cases: AntecedentPredictions) -> list[int]:
    """Number of pronouns of each of `NAMES`."""
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
