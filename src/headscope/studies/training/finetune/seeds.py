"""How much the seed of a training decides, and how early that shows."""

from math import ceil

import numpy as np
from jaxtyping import Float
from scipy.stats import chi2, norm, spearmanr

# Fisher's z of a rank correlation has this variance over that of Pearson's (Fieller et al. 1957).
FIELLER = 1.06
LEAST_SEEDS = 4

Values = dict[str, np.ndarray]


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
