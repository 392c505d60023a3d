"""What the seeds of new weights and of the order of examples decide, the best of several runs, and early stopping."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from jaxtyping import Float
from scipy.stats import chi2

from headscope.statistics.best_of import (
    expected_best,
    expected_best_interval,
    lost_by_stopping,
    lost_interval,
    stopped_number,
)
from headscope.statistics.two_way import LEVELS, two_way
from headscope.studies.training.finetune.design import Pairs
from headscope.studies.training.finetune.seeds import LEAST_SEEDS, Values

SOURCES = ("weights", "order", "rest", "examples")
STOPPED = (0.25, 0.5, 0.75)


def seed_components(
    pairs: Pairs,
    by_run: Float[np.ndarray, "run metric"],
    resamples: Float[np.ndarray, "resample run metric"],
    examples: int,
) -> Values:
    """The spread by the seed of new weights, by that of the order, by both together, and over dev examples.

    Empty unless there are several seeds of both kinds, and enough pairs to tell the rest from them. The spread over
    dev examples is the standard error of a run's score, with the interval of that of normal numbers.
    """
    first, second = np.array(pairs).T
    if min(len(set(first)), len(set(second))) < 2:
        return {}
    found = [two_way(scores, first, second) for scores in by_run.T]
    if any(one is None for one in found):
        return {}
    error = resamples.std(0).mean(0)
    free = max(examples - 1, 1)
    bounds = error[:, None] * np.sqrt(free / chi2.ppf(LEVELS[::-1], free))
    parts = [one for one in found if one is not None]
    rows = [[(one.deviation, one.lower, one.upper, one.p) for one in part] for part in parts]
    of_examples = np.column_stack([error, bounds, np.full(len(error), np.nan)])[:, None]
    values = np.concatenate([np.array(rows), of_examples], axis=1)  # [metric, source, 4]
    return {"seed_deviation": values[..., 0], "seed_deviation_ci": values[..., 1:3], "seed_p": values[..., 3]}


def best_of_runs(by_run: Float[np.ndarray, "run metric"]) -> Values:
    """The expected best score of 1 to n runs."""
    bounds = np.stack([expected_best_interval(scores) for scores in by_run.T])
    return {"expected_best": expected_best(by_run.T), "expected_best_ci": bounds}


def early_stopping(scores: Float[np.ndarray, "run epoch metric"], by_run: Float[np.ndarray, "run metric"]) -> Values:
    """What would be lost by stopping runs after the first third of the epochs, by the main metric of dev.

    Empty with one epoch or fewer than four runs.
    """
    runs, epochs, _ = scores.shape
    if runs < LEAST_SEEDS or epochs < 2:
        return {}
    early = scores[:, ceil(epochs / 3) - 1, 0]
    lost = [[float(lost_by_stopping(early, last, share)) for share in STOPPED] for last in by_run.T]
    bounds = [[lost_interval(early, last, share) for share in STOPPED] for last in by_run.T]
    return {"stopping_loss": np.array(lost), "stopping_loss_ci": np.array(bounds)}


def steps_saved(runs: int, epochs: int) -> Sequence[float]:
    """The share of the steps that is saved for each of `STOPPED`.

    >>> [round(saved, 3) for saved in steps_saved(4, 3)]
    [0.167, 0.333, 0.5]
    """
    return [stopped_number(runs, share) / runs * (1 - ceil(epochs / 3) / epochs) for share in STOPPED]
