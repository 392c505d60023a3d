"""The best of several runs: what is expected of it, and what is lost where bad runs are stopped early."""

import numpy as np
from jaxtyping import Float

RESAMPLES = 1000


def expected_best(scores: Float[np.ndarray, "*draws run"]) -> Float[np.ndarray, "*draws trials"]:
    """The expected best score of 1 to n runs, drawn from n runs with replacement.

    Dodge et al. 2019 (Show Your Work, equation 1; used for seeds in Dodge et al. 2020): a score is the best of t draws
    with the probability that all are at most as high minus that all are lower.

    >>> expected_best(np.array([0.0, 1.0]))
    array([0.5 , 0.75])
    """
    ordered = np.sort(scores, axis=-1)
    n = ordered.shape[-1]
    trials, rank = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)
    chances = (rank / n) ** trials - ((rank - 1) / n) ** trials  # [trials, run]
    return ordered @ chances.T


def expected_best_interval(scores: Float[np.ndarray, " run"]) -> Float[np.ndarray, "trials bound"]:
    """The 95% interval of `expected_best`, by the bootstrap over runs."""
    return np.quantile(expected_best(scores[_drawn(len(scores))]), [0.025, 0.975], axis=0).T


def lost_by_stopping(
    early: Float[np.ndarray, "*draws run"], last: Float[np.ndarray, "*draws run"], share: float
) -> Float[np.ndarray, "*draws"]:
    """The best last score of all runs minus that of the runs that were not stopped.

    Stopped is a share of the runs, rounded down, with the lowest early scores; of equal ones the later.

    >>> float(lost_by_stopping(np.array([0.1, 0.2, 0.3]), np.array([0.9, 0.5, 0.6]), 0.4))
    0.3
    """
    stopped = stopped_number(early.shape[-1], share)
    kept = np.argsort(-early, axis=-1, kind="stable")[..., : early.shape[-1] - stopped]
    return np.round(last.max(-1) - np.take_along_axis(last, kept, -1).max(-1), 12)


def lost_interval(
    early: Float[np.ndarray, " run"], last: Float[np.ndarray, " run"], share: float
) -> Float[np.ndarray, " bound"]:
    """The 95% interval of `lost_by_stopping`, by the bootstrap over runs."""
    drawn = _drawn(len(last))
    return np.quantile(lost_by_stopping(early[drawn], last[drawn], share), [0.025, 0.975])


def stopped_number(runs: int, share: float) -> int:
    """How many of some runs are stopped; one at least goes on.

    >>> stopped_number(6, 0.5), stopped_number(3, 0.25), stopped_number(2, 1.0)
    (3, 0, 1)
    """
    return min(int(runs * share + 1e-9), runs - 1)


def _drawn(runs: int) -> np.ndarray:
    """The numbers of the runs of each resample."""
    return np.random.default_rng(0).integers(runs, size=(RESAMPLES, runs))
