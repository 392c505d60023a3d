"""Scores as labelled variables of a result."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variables import by_layer, places
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.coreference import baselines
from headscope.studies.coreference.gender_bias import F1
from headscope.studies.coreference.scores import Chosen, Score
from headscope.studies.coreference.stereotypes import Pairs
from headscope.studies.coreference.variables import Values, variables

Heads = tuple[int, ...]


def scored(scores: Mapping[str, Score], heads: Heads) -> dict[str, xr.DataArray]:
    """Accuracies of all heads by kind of mention, the baselines beside them, and which heads are special."""
    kinds, each = list(scores), list(scores.values())
    dims = ("layer", "head", "mention_type")
    accuracy = _placed([one.accuracy.mean for one in each], heads)
    cases = np.array([int(one.baselines.count.max(initial=0)) for one in each])
    q = benjamini_hochberg(np.where(cases > 0, _placed([one.p for one in each], heads), np.nan))
    reference = np.array([one.baselines.mean[one.reference] for one in each])
    special = (accuracy - reference >= GAIN) & (q < RATE) & (cases >= LEAST_CASES)
    found = {
        "accuracy": (accuracy, dims),
        "accuracy_ci": (_placed([one.accuracy.interval for one in each], heads), (*dims, "bound")),
        "accuracy_n_examples": (cases, ("mention_type",)),
        "q_value": (q, dims),
        "special": (np.where(np.isnan(accuracy), np.nan, special), dims),
        "baseline_accuracy": ([one.baselines.mean for one in each], ("mention_type", "baseline")),
        "baseline_accuracy_ci": ([one.baselines.interval for one in each], ("mention_type", "baseline", "bound")),
        "reference": ([baselines.NAMES[one.reference] for one in each], ("mention_type",)),
    }
    return variables(found, {"mention_type": kinds})


def chosen(choices: Mapping[str, Chosen | None], heads: Heads) -> dict[str, xr.DataArray]:
    """The head that is chosen on one half for each kind of mention, and what it and the baselines do on the other."""
    rows = slice(1, 1 + len(baselines.NAMES))

    def column(value: Callable[[Chosen], Any], missing: Any) -> list[Any]:
        return [missing if one is None else value(one) for one in choices.values()]

    place = places(heads)
    none, bounds = np.full(len(baselines.NAMES), np.nan), [np.nan] * 2
    kind = ("mention_type",)
    found = {
        "chosen_layer": (column(lambda one: place[one.head][0], np.nan), kind),
        "chosen_head": (column(lambda one: place[one.head][1], np.nan), kind),
        "chosen_reference": (column(lambda one: baselines.NAMES[one.reference], ""), kind),
        "chosen_accuracy": (column(lambda one: one.held_out.mean[0], np.nan), kind),
        "chosen_accuracy_ci": (column(lambda one: one.held_out.interval[0], bounds), (*kind, "bound")),
        "chosen_accuracy_n_examples": (column(lambda one: int(one.held_out.count.max()), 0), kind),
        "chosen_baseline": (column(lambda one: one.held_out.mean[rows], none), (*kind, "baseline")),
        "chosen_baseline_ci": (
            column(lambda one: one.held_out.interval[rows], np.stack([none, none], -1)),
            (*kind, "baseline", "bound"),
        ),
        "chosen_gain": (column(lambda one: one.held_out.mean[-1], np.nan), kind),
        "chosen_gain_ci": (column(lambda one: one.held_out.interval[-1], bounds), (*kind, "bound")),
    }
    return variables(found, {"mention_type": list(choices)})


def by_gender(every: F1, base: F1, counts: list[int], heads: Heads) -> dict[str, xr.DataArray]:
    """F1 of all heads and of the baselines, by gender."""
    found = {
        "f1": (by_layer(every.f1, heads), ("layer", "head", "gender")),
        "f1_ci": (by_layer(every.f1_interval, heads), ("layer", "head", "gender", "bound")),
        "f1_n_examples": (counts, ("gender",)),
        "bias_ratio": (by_layer(every.ratio, heads), ("layer", "head")),
        "bias_ratio_ci": (by_layer(every.ratio_interval, heads), ("layer", "head", "bound")),
        "baseline_f1": (base.f1, ("baseline", "gender")),
        "baseline_f1_ci": (base.f1_interval, ("baseline", "gender", "bound")),
        "baseline_bias_ratio": (base.ratio, ("baseline",)),
        "baseline_bias_ratio_ci": (base.ratio_interval, ("baseline", "bound")),
    }
    return variables(found)


def chosen_by_gender(one: F1, counts: list[int]) -> dict[str, xr.DataArray]:
    """F1 by gender of the chosen head, on the half that it was not chosen on."""
    found = {
        "chosen_f1": (one.f1[0], ("gender",)),
        "chosen_f1_ci": (one.f1_interval[0], ("gender", "bound")),
        "chosen_f1_n_examples": (counts, ("gender",)),
        "chosen_bias_ratio": (one.ratio[0], ()),
        "chosen_bias_ratio_ci": (one.ratio_interval[0], ("bound",)),
    }
    return variables(found)


def by_stereotype(pairs: Pairs, draws: np.ndarray, heads: Heads) -> dict[str, xr.DataArray]:
    """Attention and preference in pro and anti sentences, and their gaps."""
    found: dict[str, Values] = {}
    for name, values, p in (
        ("attention", pairs.attention, pairs.attention_p()),
        ("preference", pairs.preferred, pairs.preferred_p()),
    ):
        both, gap = pairs.tallied(values, draws)
        found |= {
            name: (by_layer(both.mean.T, heads), ("layer", "head", "stereotype")),
            f"{name}_ci": (
                by_layer(both.interval.swapaxes(0, 1), heads),
                ("layer", "head", "stereotype", "bound"),
            ),
            f"{name}_n_examples": (len(pairs), ()),
            f"{name}_gap": (by_layer(gap.mean, heads), ("layer", "head")),
            f"{name}_gap_ci": (by_layer(gap.interval, heads), ("layer", "head", "bound")),
            f"{name}_gap_q": (benjamini_hochberg(by_layer(p, heads)), ("layer", "head")),
        }
    return variables(found)


def chosen_gap(gap: Tally, head: int) -> dict[str, xr.DataArray]:
    """The preference gap of the chosen head, on the half that it was not chosen on."""
    found = {
        "chosen_preference_gap": (gap.mean[head], ()),
        "chosen_preference_gap_ci": (gap.interval[head], ("bound",)),
    }
    return variables(found)


def _placed(values: list[np.ndarray], heads: Heads) -> np.ndarray:
    """[layer, head, mention type, ...] from a row of heads for each kind of mention."""
    return by_layer(np.stack(values, axis=1), heads)
