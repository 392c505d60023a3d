"""Significance tests of a head against its baseline, and the correction for many tests."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.stats import binom, false_discovery_control


def better(only_one: Int[np.ndarray, "*dims"], only_other: Int[np.ndarray, "*dims"]) -> Float[np.ndarray, "*dims"]:
    """The p-value, one-sided, of one classifier being better than another: McNemar's test in its exact form.

    `only_one` is for how many cases one alone is right, `only_other` for how many the other alone; if they were
    equally good, each of these would be a toss of a coin. Cases count as independent of each other.

    >>> better(np.array([5, 3]), np.array([0, 3])).tolist()
    [0.03125, 0.65625]
    """
    return binom.sf(only_one - 1, only_one + only_other, 0.5)


def benjamini_hochberg(p: Float[np.ndarray, "*dims"]) -> Float[np.ndarray, "*dims"]:
    """The false discovery rate at which each of these p-values would be called significant; NaN is no test.

    Benjamini and Hochberg 1995: of the tests with a q-value below 0.05, about one in twenty is a false discovery.

    >>> benjamini_hochberg(np.array([[0.01, 0.04], [np.nan, 0.03]])).round(3).tolist()
    [[0.03, 0.04], [nan, 0.04]]
    """
    q, tested = np.full(p.shape, np.nan), ~np.isnan(p)
    q[tested] = false_discovery_control(p[tested]) if tested.any() else 0
    return q


def mcnemar(
    right: Bool[np.ndarray, "*variant example"], before: Bool[np.ndarray, " example"]
) -> Float[np.ndarray, "*variant"]:
    """The p-value, two-sided, of variants being right as often as before: McNemar's test in its exact form.

    Of the examples for which one alone is right, each is a toss of a coin if both are equally good.

    >>> before = np.array([True] * 6 + [False] * 4)
    >>> mcnemar(np.array([[False] * 6 + [False] * 4, [True] * 10, before]), before).tolist()
    [0.03125, 0.125, 1.0]
    """
    gained, lost = (right & ~before).sum(-1), (~right & before).sum(-1)
    return np.minimum(1.0, 2 * better(np.maximum(gained, lost), np.minimum(gained, lost)))
