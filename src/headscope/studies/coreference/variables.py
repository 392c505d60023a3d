"""Scores as variables of a result."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.best_heads import add_place, place_labels
from headscope.results.variables import Count, Label, Variables, by_layer
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.coreference import baselines
from headscope.studies.coreference.scores import ADVANTAGE, BASELINES, HEAD, MentionScore

Heads = tuple[int, ...]
SOURCE = "Clark et al. 2019, section 4.3"
SHARE = "share of mentions"
KIND = "mention_type"
COORDS = {"baseline": baselines.NAMES}
OF_HEADS, OF_KINDS = ("layer", "head", KIND), (KIND,)
LABELS = {
    "accuracy": Label("mentions at whose antecedent the attention of their head word points", SHARE, OF_HEADS),
    "q_value": Label("false discovery rate at which the head is better than nearest and head match", "rate", OF_HEADS),
    "special": Label(
        "whether the head beats nearest and head match by 10 points, with q < 0.05, in at least 50 mentions",
        "1 if so",
        OF_HEADS,
    ),
    "baseline_accuracy": Label("mentions whose antecedent a simple baseline picks", SHARE, (KIND, "baseline")),
    "reference": Label("the better one of nearest and head match", "baseline", OF_KINDS),
    **place_labels("the head that is best on one half", KIND),
    "chosen_reference": Label("the better one of nearest and head match on one half", "baseline", OF_KINDS),
    "chosen_accuracy": Label("mentions whose antecedent the chosen head picks, on the other half", SHARE, OF_KINDS),
    "chosen_baseline": Label(
        "mentions whose antecedent a baseline picks, on the other half", SHARE, (KIND, "baseline")
    ),
    "chosen_gain": Label(
        "accuracy of the chosen head less that of the chosen reference, on the other half", SHARE, OF_KINDS
    ),
}


def score_variables(scores: Mapping[str, MentionScore], heads: Heads) -> dict[str, xr.DataArray]:
    """Accuracies of all heads by kind of mention, q-values and special heads, and the baselines."""
    variables, kinds = Variables(COORDS | {KIND: list(scores)}, SOURCE, LABELS), list(scores.values())
    cases = np.array([int(score.baselines.count.max(initial=0)) for score in kinds])
    accuracy = _placed([score.accuracy.mean for score in kinds], heads)
    interval = _placed([score.accuracy.share_interval for score in kinds], heads)
    count = Count(cases, "mentions that have an antecedent", "mentions", (KIND,))
    variables.add("accuracy", accuracy, interval=interval, count=count)
    q = benjamini_hochberg(np.where(cases > 0, _placed([score.p for score in kinds], heads), np.nan))
    variables.add("q_value", q)
    reference = np.array([score.baselines.mean[score.reference] for score in kinds])
    special = (accuracy - reference >= GAIN) & (q < RATE) & (cases >= LEAST_CASES)
    variables.add("special", np.where(np.isnan(accuracy), np.nan, special))
    interval = [score.baselines.share_interval for score in kinds]
    variables.add("baseline_accuracy", [score.baselines.mean for score in kinds], interval=interval)
    variables.add("reference", [baselines.NAMES[score.reference] for score in kinds])
    return variables.arrays


def best_variables(best: Mapping[str, BestHead | None], heads: Heads) -> dict[str, xr.DataArray]:
    """The best head of each kind of mention on one half, its score and those of the baselines on the other."""
    variables, kinds = Variables(COORDS | {KIND: list(best)}, SOURCE, LABELS), list(best.values())
    add_place(variables, kinds, heads)
    variables.add("chosen_reference", column(kinds, lambda one: baselines.NAMES[one.selected.baseline], ""))
    cases = column(kinds, lambda one: int(one.held_out.count.max()), 0)
    count = Count(cases, "mentions on the other half", "mentions", (KIND,))
    for name, row in (("chosen_accuracy", HEAD), ("chosen_baseline", BASELINES), ("chosen_gain", ADVANTAGE)):
        means, intervals = held_out_scores(kinds, row, share=row != ADVANTAGE)
        variables.add(name, means, interval=intervals, count=count if row == HEAD else None)
    return variables.arrays


def _placed(values: list[np.ndarray], heads: Heads) -> np.ndarray:
    return by_layer(np.stack(values, axis=1), heads)  # [layer, head, mention type, ...]
