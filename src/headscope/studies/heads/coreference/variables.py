"""Scores as variables of a result: accuracies, F1 by gender (GAP), effects of stereotypes, and confusion."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables, add_place, by_layer
from headscope.statistics.bootstrap import Tally, tally_by_input
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column, held_out_scores
from headscope.studies.heads.coreference import STUDY, baselines
from headscope.studies.heads.coreference.question_scores import F1, GENDER_NAMES, STEREOTYPES, Pairs
from headscope.studies.heads.coreference.scores import (
    ADVANTAGE,
    BASELINES,
    HEAD,
    AntecedentPredictions,
    Draws,
    MentionScore,
)

Heads = tuple[int, ...]
KIND = "mention_type"
COORDS = {"baseline": baselines.NAMES, "gender": GENDER_NAMES, "stereotype": STEREOTYPES}


def score_variables(scores: Mapping[str, MentionScore], heads: Heads) -> dict[str, xr.DataArray]:
    """Accuracies of all heads by kind of mention, q-values and special heads, and the baselines."""
    variables, kinds = Variables(COORDS | {KIND: list(scores)}, STUDY.source, STUDY.labels), list(scores.values())
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
    variables, kinds = Variables(COORDS | {KIND: list(best)}, STUDY.source, STUDY.labels), list(best.values())
    add_place(variables, kinds, heads)
    variables.add("chosen_reference", column(kinds, lambda head: baselines.NAMES[head.selected.baseline], ""))
    cases = column(kinds, lambda head: int(head.held_out.count.max()), 0)
    count = Count(cases, "mentions on the other half", "mentions", (KIND,))
    for name, row in (("chosen_accuracy", HEAD), ("chosen_baseline", BASELINES), ("chosen_gain", ADVANTAGE)):
        means, intervals = held_out_scores(kinds, row, share=row != ADVANTAGE)
        variables.add(name, means, interval=intervals, count=count if row == HEAD else None)
    return variables.arrays


def _placed(values: list[np.ndarray], heads: Heads) -> np.ndarray:
    return by_layer(np.stack(values, axis=1), heads)  # [layer, head, mention type, ...]


def gender_variables(by_head: F1, base: F1, counts: list[int], heads: Heads) -> dict[str, xr.DataArray]:
    """F1 of all heads and of the baselines, by gender."""
    variables = Variables(COORDS, STUDY.source, STUDY.labels)
    count = Count(counts, "pronouns", "pronouns", ("gender",))
    variables.add("f1", by_layer(by_head.f1, heads), interval=by_layer(by_head.f1_interval, heads), count=count)
    variables.add("bias_ratio", by_layer(by_head.ratio, heads), interval=by_layer(by_head.ratio_interval, heads))
    _add_baselines(variables, base)
    return variables.arrays


def _add_baselines(variables: Variables, base: F1, prefix: str = "") -> None:
    variables.add(f"{prefix}baseline_f1", base.f1, interval=base.f1_interval)
    variables.add(f"{prefix}baseline_bias_ratio", base.ratio, interval=base.ratio_interval)


def best_gender_variables(head: F1, base: F1, counts: list[int]) -> dict[str, xr.DataArray]:
    """F1 by gender of the chosen head and of the baselines, on the half on which the head was not chosen."""
    variables = Variables(COORDS, STUDY.source, STUDY.labels)
    _add_baselines(variables, base, "chosen_")
    count = Count(counts, "pronouns on the other half", "pronouns", ("gender",))
    variables.add("chosen_f1", head.f1[0], interval=head.f1_interval[0], count=count)
    variables.add("chosen_bias_ratio", head.ratio[0], interval=head.ratio_interval[0])
    return variables.arrays


def stereotype_variables(pairs: Pairs, draws: np.ndarray, heads: Heads) -> dict[str, xr.DataArray]:
    """Attention and preference in pro and anti sentences, and their gaps."""
    variables, count = Variables(COORDS, STUDY.source, STUDY.labels), Count(len(pairs), "pairs of sentences", "pairs")
    for name, values, p in (
        ("attention", pairs.attention, pairs.attention_p()),
        ("preference", pairs.preferred, pairs.preferred_p()),
    ):
        both, gap = pairs.tallied(values, draws)
        means = by_layer(both.mean.T, heads)  # [layer, head, stereotype]
        bounds = both.share_interval if name == "preference" else both.interval
        interval = by_layer(bounds.swapaxes(0, 1), heads)  # [layer, head, stereotype, bound]
        variables.add(name, means, interval=interval, count=count)
        variables.add(f"{name}_gap", by_layer(gap.mean, heads), interval=by_layer(gap.interval, heads))
        variables.add(f"{name}_gap_q", benjamini_hochberg(by_layer(p, heads)))
    return variables.arrays


def best_gap_variables(gap: Tally, head: int) -> dict[str, xr.DataArray]:
    """The preference gap of the chosen head, on the half on which it was not chosen."""
    variables = Variables(COORDS, STUDY.source, STUDY.labels)
    variables.add("chosen_preference_gap", gap.mean[head], interval=gap.interval[head])
    return variables.arrays


def confusion_variables(cases: AntecedentPredictions, draws: Draws, heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    """Confusion by head and on average, of all questions and by their condition."""
    names = sorted(set(cases.condition.tolist()) - {""})
    parts = {"all": cases} | {name: cases[cases.condition == name] for name in names}
    variables = Variables({"condition": list(parts)}, STUDY.source, STUDY.labels)
    by_head = [_tally(part.confusion, part, draws) for part in parts.values()]
    mean = [_tally(part.confusion.mean(1, keepdims=True, dtype=np.float64), part, draws) for part in parts.values()]
    count = Count([len(part) for part in parts.values()], "questions", "questions", ("condition",))
    means, intervals = (
        by_layer(np.stack([getattr(tally, name) for tally in by_head], axis=1), heads) for name in ("mean", "interval")
    )
    variables.add("confusion", means, interval=intervals, count=count)
    means, intervals = ([getattr(tally, name)[0] for tally in mean] for name in ("mean", "interval"))
    variables.add("mean_confusion", means, interval=intervals, count=count)
    variables.add("uniform_confusion", [np.log2(part.candidates).mean() for part in parts.values()])
    return variables.arrays


def _tally(values: np.ndarray, cases: AntecedentPredictions, draws: Draws) -> Tally:
    return tally_by_input(values.astype(np.float64), cases.unit, draws)
