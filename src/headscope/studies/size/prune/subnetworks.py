"""Scores of equal parts of a model: the heads that stay (good), random ones, the least important (bad).

Prasanna et al. 2020, "good" and "bad" subnetworks, of heads.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.corpora.tasks import LOWER_IS_BETTER, intervals, scored
from headscope.models.heads import existing
from headscope.passes.settings import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.studies.size.prune import PARTS, STUDY
from headscope.studies.size.prune.removal import PrunedModel, places
from headscope.studies.size.prune.score_curve import ScoreCurve

NAMES = ("all", "good", "bad", "random")


def masks(
    pruned: PrunedModel, importance: Float[np.ndarray, "layer head"] | None, draws: int, seed: int
) -> list[Bool[np.ndarray, "layer head"]]:
    """The heads of the good part, the bad one and random ones, all of equal size.

    The bad part has the heads that were removed first; where fewer were removed than stay, the least important of those
    that stay, too.

    * `importance`: of the heads at last, which ranks those that stay; `draws`: the number of random parts.
    """
    left, random = pruned.left, np.random.default_rng(seed)
    size, there = int(left.sum()), np.flatnonzero(existing(pruned.heads))
    ranked = np.zeros(left.shape) if importance is None else importance
    rest = np.flatnonzero(left)[np.argsort(ranked[left], kind="stable")]
    order = [*np.ravel_multi_index(places(pruned.gone), left.shape), *rest]
    chosen = [order[:size], *(random.permutation(there)[:size] for _ in range(draws))]
    return [left, *(np.isin(np.arange(left.size), part).reshape(left.shape) for part in chosen)]


def scored_parts(
    path: ScoreCurve, outputs: Sequence[Float[np.ndarray, "example output"]], settings: Settings
) -> dict[str, xr.DataArray]:
    """The scores of the whole model and of its parts, and the lead of the good part, on the same examples.

    Intervals are over examples, of random parts over their draws too. Parts differ by chance, so that the good part has
    to beat nearly all random ones: its p-value is the share of these that do as well, itself among them.

    * `outputs`: of the parts of `masks`.
    """
    task, stacked = path.task, np.stack([path.points[0].outputs, *outputs])
    draws, few = poisson_draws(task.dev.units, settings.seed, settings.resamples), equal_units(task.dev.units)
    scores, resamples = scored(task.metrics, stacked, path.targets, draws)
    last, sign = len(NAMES) - 1, np.where(np.isin(task.metrics, [*LOWER_IS_BETTER]), -1, 1)
    better = (sign * scores[last:] >= sign * scores[1]).sum(0)
    mean, drawn = scores[last:].mean(0), len(scores) - last
    scores = np.concatenate([scores[:last], mean[None]])
    resamples = np.concatenate([resamples[:, :last], _over_draws(resamples[:, last:], settings.seed)[:, None]], axis=1)
    variables = Variables({"subnetwork": NAMES, "metric": task.metrics}, STUDY.source, STUDY.labels)
    count = Count(np.full(scores.shape, len(path.targets)), "examples behind score of a part", dims=PARTS)
    variables.add("subnetwork_score", scores, interval=intervals(task.metrics, scores, resamples, few), count=count)
    lead, lead_resampled = scores[1] - scores, resamples[:, 1:2] - resamples
    variables.add("subnetwork_lead", lead, interval=interval(lead_resampled, few), count=len(path.targets))
    variables.add("subnetwork_p_value", (1 + better) / (1 + drawn))
    return variables.arrays


def _over_draws(scores: Float[np.ndarray, "resample draw metric"], seed: int) -> Float[np.ndarray, "resample metric"]:
    """The mean over resampled draws of random parts, in each resample of the examples.

    With few draws their spread is that of a sample, which is wider by the square root of n / (n - 1).
    """
    number = scores.shape[1]
    chosen = np.random.default_rng(seed).integers(number, size=(len(scores), number))
    means, here = np.take_along_axis(scores, chosen[..., None], axis=1).mean(1), scores.mean(1)
    return here + (means - here) * np.sqrt(number / max(number - 1, 1))
