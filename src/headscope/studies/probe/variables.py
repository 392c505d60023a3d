"""The scores of parsers as labelled variables of a result."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.results.named import Named
from headscope.results.variables import by_layer
from headscope.results.vocabulary import BOUNDS, DIRECTIONS
from headscope.statistics.bootstrap import Tally
from headscope.studies.probe.scores import Gold, Outcome

SOURCE = "Clark et al. 2019, section 5"
UAS = "words, without punctuation, that get their syntactic head"


def labelled(
    outcomes: Mapping[str, Outcome], gold: Gold, draws: Float[np.ndarray, "resample sentence"], seeds: Sequence[int]
) -> dict[str, xr.DataArray]:
    """`uas[probe]` and `recall[probe, relation]` with their intervals, and what the seeds make of it.

    A score is the mean over seeds; its interval is over sentences. What was not trained has one score for all seeds;
    a seed that was not reached is NaN.
    """
    names, counts = np.unique(gold.relation, return_counts=True)
    relations = [str(names[place]) for place in np.lexsort((names, -counts))]
    named = Named({"probe": list(outcomes), "relation": relations, "seed": seeds}, 0, SOURCE)
    right = _means([each.right for each in outcomes.values()])
    alone = _means([each.right_alone for each in outcomes.values()])
    parts = [gold.tally(right, draws, gold.relation == name) for name in relations]
    by_seed = np.array([_by_seed(each, len(seeds)) for each in outcomes.values()])
    found = {
        **_estimate(named, "uas", gold.tally(right, draws), ["probe"], UAS),
        **_estimate(
            named, "uas_argmax", gold.tally(alone, draws), ["probe"], f"{UAS} where each takes its best, tree or not"
        ),
        **_recall(named, parts),
        "uas_by_seed": named.variable(by_seed, ["probe", "seed"], f"{UAS}, by seed", "share of words"),
        "epochs": named.variable(
            [_for_each_seed(each.epochs or [0] * len(seeds), len(seeds)) for each in outcomes.values()],
            ["probe", "seed"],
            "passes over the training sentences",
            "epochs",
        ),
    }
    if len(seeds) > 1:
        spread = [row[~np.isnan(row)].std(ddof=1) if (~np.isnan(row)).sum() > 1 else np.nan for row in by_seed]
        found["uas_std"] = named.variable(
            spread, ["probe"], "standard deviation of the score over seeds", "share of words"
        )
    return found


def weighed(
    weights: Float[np.ndarray, "seed feature"],
    preferences: Float[np.ndarray, "scored feature"],
    gold: Gold,
    draws: Float[np.ndarray, "resample sentence"],
    heads: tuple[int, ...],
) -> dict[str, xr.DataArray]:
    """`weight` and `contribution[layer, head, direction]` of the attention-only parser, means over seeds."""
    mean = weights.mean(0)
    among = gold.relation != "root"
    contributed = gold.tally(preferences * mean, draws, among)
    named = Named(
        {
            "layer": range(1, len(heads) + 1),
            "head": range(1, max(heads) + 1),
            "direction": DIRECTIONS,
            "bound": BOUNDS,
        },
        0,
        SOURCE,
    )
    dims = ["layer", "head", "direction"]
    what = "by how much a head raises the score of the syntactic head over that of another word"
    found = {
        "weight": named.variable(_placed(mean, heads), dims, "weight of a head in the attention-only parser", "logits"),
        "contribution": named.variable(_placed(contributed.mean, heads), dims, what, "logits"),
        "contribution_ci": named.variable(
            _placed(contributed.interval, heads), [*dims, "bound"], f"95% bootstrap interval of {what}", "logits"
        ),
        "contribution_n_examples": named.variable(int(contributed.count), [], f"words of {what}", "words"),
    }
    if len(weights) > 1:
        spread = _placed(weights.std(0, ddof=1), heads)
        found["weight_std"] = named.variable(spread, dims, "standard deviation of the weight over seeds", "logits")
    return found


def _placed(features: np.ndarray, heads: tuple[int, ...]) -> np.ndarray:
    """From features, all heads in one direction and then in the other, to [layer, head, direction, ...]."""
    return by_layer(np.stack(np.split(features, 2), axis=1), heads)


def _means(right: Sequence[Sequence[np.ndarray]]) -> Float[np.ndarray, "scored probe"]:
    """The share of seeds that get each word right."""
    return np.stack([np.mean(by_seed, axis=0) for by_seed in right], axis=1)


def _by_seed(outcome: Outcome, seeds: int) -> list[float]:
    scores = [float(right.mean()) for right in outcome.right]
    return _for_each_seed(scores, seeds) if outcome.epochs else scores * seeds


def _for_each_seed(values: Sequence[float], seeds: int) -> list[float]:
    return [*values, *[np.nan] * (seeds - len(values))]


def _estimate(named: Named, name: str, found: Tally, dims: list[str], long_name: str) -> dict[str, xr.DataArray]:
    bounded = Named({**named.coords, "bound": BOUNDS}, 0, named.source)
    return {
        name: named.variable(found.mean, dims, long_name, "share of words"),
        f"{name}_ci": bounded.variable(
            found.interval, [*dims, "bound"], f"95% bootstrap interval of {long_name}", "share of words"
        ),
        f"{name}_n_examples": named.variable(int(found.count), [], "words that are scored", "words"),
    }


def _recall(named: Named, parts: list[Tally]) -> dict[str, xr.DataArray]:
    bounded = Named({**named.coords, "bound": BOUNDS}, 0, named.source)
    words, dims = "words of a relation that get their syntactic head", ["probe", "relation"]
    return {
        "recall": named.variable(np.stack([each.mean for each in parts], 1), dims, words, "share of words"),
        "recall_ci": bounded.variable(
            np.stack([each.interval for each in parts], 1), [*dims, "bound"], f"95% bootstrap interval of {words}",
            "share of words",
        ),
        "recall_n_examples": named.variable(
            [int(each.count) for each in parts], ["relation"], "words of each relation", "words"
        ),
    }  # fmt: skip
