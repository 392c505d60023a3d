"""What the seeds of a training decide, how early that shows, the best of several runs, and early stopping."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from jaxtyping import Float
from scipy.stats import chi2, norm, spearmanr

from headscope.statistics.runs import (
    LEVELS,
    expected_best,
    expected_best_interval,
    lost_by_stopping,
    lost_interval,
    stopped_number,
    two_way,
)
from headscope.studies.training.finetune.design import Pairs

# Fisher's z of a rank correlation has this variance over that of Pearson's (Fieller et al. 1957).
FIELLER = 1.06
LEAST_SEEDS = 4

Values = dict[str, np.ndarray]
SOURCES = ("weights", "order", "rest", "examples")
STOPPED = (0.25, 0.5, 0.75)


def seed_spread(
    by_seed: Float[np.ndarray, "seed metric"], resamples: Float[np.ndarray, "resample seed metric"]
) -> Values:
    """The standard deviation of the score over seeds, divided by its mean standard error over dev examples.

    Over 1 the seed moves the score more than another test set of this size would. The interval is that of the standard
    deviation of normal numbers; it says how far few seeds can tell.
    """
    error = resamples.std(0).mean(0)
    ratio = np.divide(by_seed.std(0, ddof=1), error, out=np.full(error.shape, np.nan), where=error > 0)
    free = len(by_seed) - 1
    bounds = np.sqrt(free / chi2.ppf([0.975, 0.025], free))
    return {"seed_spread": ratio, "seed_spread_ci": ratio[:, None] * bounds}


def early_correlation(scores: Float[np.ndarray, "seed epoch metric"]) -> Values:
    """Spearman's correlation, over seeds, of the score after the first third of the epochs with that after the last.

    Empty with one epoch or fewer than four seeds; NaN where all seeds have the same score.
    """
    seeds, epochs, metrics = scores.shape
    if seeds < LEAST_SEEDS or epochs < 2:
        return {}
    early, last = scores[:, ceil(epochs / 3) - 1], scores[:, -1]
    known = (early.std(0) > 0) & (last.std(0) > 0)
    value = np.array([spearmanr(early[:, m], last[:, m])[0] if known[m] else np.nan for m in range(metrics)], float)
    half = norm.ppf(0.975) * np.sqrt(FIELLER / (seeds - 3))
    middle = np.arctanh(np.clip(value, -0.999, 0.999))
    bounds = np.tanh(middle[:, None] + half * np.array([-1, 1]))
    return {"early_correlation": value, "early_correlation_ci": bounds}


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


def best_of_runs(by_run: Float[np.ndarray, "run metric"], sign: Float[np.ndarray, " metric"]) -> Values:
    """The expected best score of 1 to n runs; `sign`: -1 for a metric where lower is better."""
    better, sign = (by_run * sign).T, sign[:, None]
    bounds = np.stack([expected_best_interval(scores) for scores in better])
    return {"expected_best": sign * expected_best(better), "expected_best_ci": np.sort(sign[..., None] * bounds)}


def early_stopping(
    scores: Float[np.ndarray, "run epoch metric"],
    by_run: Float[np.ndarray, "run metric"],
    sign: Float[np.ndarray, " metric"],
) -> Values:
    """What would be lost by stopping runs after the first third of the epochs, by the main metric of dev.

    * `sign`: -1 for a metric where lower is better.

    Empty with one epoch or fewer than four runs.
    """
    runs, epochs, _ = scores.shape
    if runs < LEAST_SEEDS or epochs < 2:
        return {}
    early, by_run = scores[:, ceil(epochs / 3) - 1, 0] * sign[0], by_run * sign
    lost = [[float(lost_by_stopping(early, last, share)) for share in STOPPED] for last in by_run.T]
    bounds = [[lost_interval(early, last, share) for share in STOPPED] for last in by_run.T]
    return {"stopping_loss": np.array(lost), "stopping_loss_ci": np.array(bounds)}


def steps_saved(runs: int, epochs: int) -> Sequence[float]:
    """The share of the steps that is saved for each of `STOPPED`.

    >>> [round(saved, 3) for saved in steps_saved(4, 3)]
    [0.167, 0.333, 0.5]
    """
    return [stopped_number(runs, share) / runs * (1 - ceil(epochs / 3) / epochs) for share in STOPPED]
