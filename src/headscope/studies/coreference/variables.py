"""Scores as variables of a result."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.best_heads import add_place
from headscope.results.variables import Count, Variables, by_layer
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.coreference import baselines
from headscope.studies.coreference.scores import ADVANTAGE, BASELINES, HEAD, MentionScore

Heads = tuple[int, ...]
SOURCE = "Clark et al. 2019, section 4.3"
SHARE = "share of mentions"
KIND = "mention_type"
LABELS = {"baseline": baselines.NAMES}


def score_variables(scores: Mapping[str, MentionScore], heads: Heads) -> dict[str, xr.DataArray]:
    """Accuracies of all heads by kind of mention, q-values and special heads, and the baselines."""
    variables, each = Variables(LABELS | {KIND: list(scores)}, SOURCE), list(scores.values())
    dims = ("layer", "head", KIND)
    cases = np.array([int(one.baselines.count.max(initial=0)) for one in each])
    accuracy = _placed([one.accuracy.mean for one in each], heads)
    variables.add(
        "accuracy",
        accuracy,
        dims,
        long_name="mentions at whose antecedent the attention of their head word points",
        units=SHARE,
        interval=_placed([one.accuracy.interval for one in each], heads),
        count=Count(cases, "mentions that have an antecedent", "mentions", (KIND,)),
    )
    q = benjamini_hochberg(np.where(cases > 0, _placed([one.p for one in each], heads), np.nan))
    long_name = "false discovery rate at which the head is better than nearest and head match"
    variables.add("q_value", q, dims, long_name=long_name, units="rate")
    reference = np.array([one.baselines.mean[one.reference] for one in each])
    special = (accuracy - reference >= GAIN) & (q < RATE) & (cases >= LEAST_CASES)
    variables.add(
        "special",
        np.where(np.isnan(accuracy), np.nan, special),
        dims,
        long_name="whether the head beats nearest and head match by 10 points, with q < 0.05, in at least 50 mentions",
        units="1 if so",
    )
    variables.add(
        "baseline_accuracy",
        [one.baselines.mean for one in each],
        (KIND, "baseline"),
        long_name="mentions whose antecedent a simple baseline picks",
        units=SHARE,
        interval=[one.baselines.interval for one in each],
    )
    names, long_name = [baselines.NAMES[one.reference] for one in each], "the better one of nearest and head match"
    variables.add("reference", names, (KIND,), long_name=long_name, units="baseline")
    return variables.arrays


def best_variables(best: Mapping[str, BestHead | None], heads: Heads) -> dict[str, xr.DataArray]:
    """The best head of each kind of mention on one half, its score and those of the baselines on the other."""
    variables, each = Variables(LABELS | {KIND: list(best)}, SOURCE), list(best.values())
    add_place(variables, each, KIND, heads, "the head that is best on one half")
    names = column(each, lambda one: baselines.NAMES[one.selected.baseline], "")
    long_name = "the better one of nearest and head match on one half"
    variables.add("chosen_reference", names, (KIND,), long_name=long_name, units="baseline")
    cases = column(each, lambda one: int(one.held_out.count.max()), 0)
    for name, row, dims, long_name in (
        ("accuracy", HEAD, (KIND,), "mentions whose antecedent the chosen head picks"),
        ("baseline", BASELINES, (KIND, "baseline"), "mentions whose antecedent a baseline picks"),
        ("gain", ADVANTAGE, (KIND,), "accuracy of the chosen head less that of the chosen reference"),
    ):
        means, intervals = held_out_scores(each, row)
        variables.add(
            f"chosen_{name}",
            means,
            dims,
            long_name=f"{long_name}, on the other half",
            units=SHARE,
            interval=intervals,
            count=Count(cases, "mentions on the other half", "mentions", (KIND,)) if row == HEAD else None,
        )
    return variables.arrays


def _placed(values: list[np.ndarray], heads: Heads) -> np.ndarray:
    return by_layer(np.stack(values, axis=1), heads)  # [layer, head, mention type, ...]
