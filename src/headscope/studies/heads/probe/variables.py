"""The scores of parsers as labelled variables of a result."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.variables import Count, Variables, by_layer
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import LEAST_CASES
from headscope.studies.heads.probe import STUDY
from headscope.studies.heads.probe.experiments import Gold, Outcome


def to_variables(
    outcomes: Mapping[str, Outcome], gold: Gold, draws: Float[np.ndarray, "resample sentence"], seeds: Sequence[int]
) -> dict[str, xr.DataArray]:
    """`uas[probe]` and `recall[probe, relation]` with their intervals, and what the seeds make of it.

    A score is the mean over seeds; its interval is over sentences or documents. What was not trained has one score for
    all seeds; a seed that was not reached is NaN.
    """
    relations = _relations(gold)
    variables = Variables({"probe": list(outcomes), "relation": relations, "seed": seeds}, STUDY.source, STUDY.labels)
    right = _means([outcome.right for outcome in outcomes.values()])
    alone = _means([outcome.right_alone for outcome in outcomes.values()])
    _add_estimate(variables, "uas", gold.tally(right, draws))
    _add_estimate(variables, "uas_argmax", gold.tally(alone, draws))
    _add_recall(variables, [gold.tally(right, draws, gold.relation == name) for name in relations])
    by_seed = np.array([_by_seed(outcome, len(seeds)) for outcome in outcomes.values()])
    variables.add("uas_by_seed", by_seed)
    epochs = [_for_each_seed(outcome.epochs or [0] * len(seeds), len(seeds)) for outcome in outcomes.values()]
    variables.add("epochs", epochs)
    if len(seeds) > 1:
        spread = [row[~np.isnan(row)].std(ddof=1) if (~np.isnan(row)).sum() > 1 else np.nan for row in by_seed]
        variables.add("uas_std", spread)
    return variables.arrays


def weighed(
    weights: Float[np.ndarray, "seed feature"],
    preferences: Float[np.ndarray, "scored feature"],
    gold: Gold,
    draws: Float[np.ndarray, "resample sentence"],
    heads: tuple[int, ...],
) -> dict[str, xr.DataArray]:
    """`weight` and `contribution[layer, head, direction]` of the attention-only parser, means over seeds."""
    mean = weights.mean(0)
    raised, rooted = preferences * mean, gold.relation == "root"
    contributed = gold.tally(raised, draws, ~rooted)
    relations = _relations(gold)
    variables = Variables({"direction": DIRECTIONS, "relation": relations}, STUDY.source, STUDY.labels)
    variables.add("weight", _placed(mean, heads))
    count = Count(int(contributed.count), f"words of {STUDY.labels['contribution'].what}", "words")
    interval = _placed(contributed.interval, heads)
    variables.add("contribution", _placed(contributed.mean, heads), interval=interval, count=count)
    values = np.full((len(mean), len(relations)), np.nan)
    bounds = np.full((*values.shape, 2), np.nan)
    for number, name in enumerate(relations):
        among = (gold.relation == name) & ~rooted
        if np.count_nonzero(among) >= LEAST_CASES:
            tally = gold.tally(raised, draws, among)
            values[:, number], bounds[:, number] = tally.mean, tally.interval
    if np.isfinite(values).any():
        variables.add("relation_contribution", _placed(values, heads), interval=_placed(bounds, heads))
    if len(weights) > 1:
        variables.add("weight_std", _placed(weights.std(0, ddof=1), heads))
    return variables.arrays


def _relations(gold: Gold) -> list[str]:
    """The relations of the scored words, the most frequent first."""
    names, counts = np.unique(gold.relation, return_counts=True)
    return [str(names[index]) for index in np.lexsort((names, -counts))]


def _placed(features: np.ndarray, heads: tuple[int, ...]) -> np.ndarray:
    """Reshape features, first all heads in one direction, then in the other, to [layer, head, direction, ...]."""
    return by_layer(np.stack(np.split(features, 2), axis=1), heads)


def _means(right: Sequence[Sequence[np.ndarray]]) -> Float[np.ndarray, "scored probe"]:
    """The share of seeds that get each word right."""
    return np.stack([np.mean(by_seed, axis=0) for by_seed in right], axis=1)


def _by_seed(outcome: Outcome, seeds: int) -> list[float]:
    scores = [float(right.mean()) for right in outcome.right]
    return _for_each_seed(scores, seeds) if outcome.epochs else scores * seeds


def _for_each_seed(values: Sequence[float], seeds: int) -> list[float]:
    return [*values, *[np.nan] * (seeds - len(values))]


def _add_estimate(variables: Variables, name: str, score: Tally) -> None:
    count = Count(int(score.count), "words that are scored", "words")
    variables.add(name, score.mean, interval=score.share_interval, count=count)


def _add_recall(variables: Variables, relations: Sequence[Tally]) -> None:
    means, intervals = (
        np.stack([getattr(tally, part) for tally in relations], 1) for part in ("mean", "share_interval")
    )
    count = Count([int(tally.count) for tally in relations], "words of each relation", "words", ("relation",))
    variables.add("recall", means, interval=intervals, count=count)
