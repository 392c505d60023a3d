"""Scores of a corpus that asks questions, as variables: F1 by gender (GAP), effects of stereotypes (WinoBias)."""

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Label, Variables, by_layer
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.coreference import baselines, gender_bias
from headscope.studies.coreference.gender_bias import F1
from headscope.studies.coreference.stereotypes import STEREOTYPES, Pairs

Heads = tuple[int, ...]
WEBSTER = "Webster et al. 2018, section 4"
WINO = "Zhao et al. 2018; Rudinger et al. 2018"
COORDS = {"baseline": baselines.NAMES, "gender": gender_bias.NAMES, "stereotype": STEREOTYPES}
OF_HEADS, OF_BASELINES = ("layer", "head"), ("baseline", "gender")
FALSE_DISCOVERY = "false discovery rate at which there is such a gap"
ATTENTION, SENTENCES = "share of attention", "share of sentences"
GENDER_LABELS = {
    "f1": Label("F1 of names called coreferent with a pronoun", "F1", (*OF_HEADS, "gender")),
    "bias_ratio": Label("F1 of feminine pronouns over that of masculine ones", "ratio", OF_HEADS),
    "baseline_f1": Label("F1 of names that a baseline calls coreferent with a pronoun", "F1", OF_BASELINES),
    "baseline_bias_ratio": Label("F1 of feminine over masculine pronouns, of a baseline", "ratio", ("baseline",)),
    "chosen_baseline_f1": Label(
        "F1 of names that a baseline calls coreferent with a pronoun, on the other half", "F1", OF_BASELINES
    ),
    "chosen_baseline_bias_ratio": Label(
        "F1 of feminine over masculine pronouns, of a baseline, on the other half", "ratio", ("baseline",)
    ),
    "chosen_f1": Label("F1 of the head that is chosen on one half, on the other half", "F1", ("gender",)),
    "chosen_bias_ratio": Label("F1 of feminine over masculine pronouns of the chosen head", "ratio"),
}
STEREOTYPE_LABELS = {
    "attention": Label(
        "attention of the pronoun to the candidate of the stereotype", ATTENTION, (*OF_HEADS, "stereotype")
    ),
    "attention_gap": Label(
        "attention to that candidate in the pro sentence less that in the anti one", ATTENTION, OF_HEADS
    ),
    "attention_gap_q": Label(FALSE_DISCOVERY, "rate", OF_HEADS),
    "preference": Label(
        "sentences in which that candidate gets more attention than the other", SENTENCES, (*OF_HEADS, "stereotype")
    ),
    "preference_gap": Label("preference in pro sentences less that in anti sentences", SENTENCES, OF_HEADS),
    "preference_gap_q": Label(FALSE_DISCOVERY, "rate", OF_HEADS),
    "chosen_preference_gap": Label("preference gap of the chosen head, on the other half", SENTENCES),
}


def gender_variables(every: F1, base: F1, counts: list[int], heads: Heads) -> dict[str, xr.DataArray]:
    """F1 of all heads and of the baselines, by gender."""
    variables = Variables(COORDS, WEBSTER, GENDER_LABELS)
    count = Count(counts, "pronouns", "pronouns", ("gender",))
    variables.add("f1", by_layer(every.f1, heads), interval=by_layer(every.f1_interval, heads), count=count)
    variables.add("bias_ratio", by_layer(every.ratio, heads), interval=by_layer(every.ratio_interval, heads))
    _add_baselines(variables, base)
    return variables.arrays


def _add_baselines(variables: Variables, base: F1, prefix: str = "") -> None:
    variables.add(f"{prefix}baseline_f1", base.f1, interval=base.f1_interval)
    variables.add(f"{prefix}baseline_bias_ratio", base.ratio, interval=base.ratio_interval)


def best_gender_variables(one: F1, base: F1, counts: list[int]) -> dict[str, xr.DataArray]:
    """F1 by gender of the chosen head and of the baselines, on the half on which the head was not chosen."""
    variables = Variables(COORDS, WEBSTER, GENDER_LABELS)
    _add_baselines(variables, base, "chosen_")
    count = Count(counts, "pronouns on the other half", "pronouns", ("gender",))
    variables.add("chosen_f1", one.f1[0], interval=one.f1_interval[0], count=count)
    variables.add("chosen_bias_ratio", one.ratio[0], interval=one.ratio_interval[0])
    return variables.arrays


def stereotype_variables(pairs: Pairs, draws: np.ndarray, heads: Heads) -> dict[str, xr.DataArray]:
    """Attention and preference in pro and anti sentences, and their gaps."""
    variables, count = Variables(COORDS, WINO, STEREOTYPE_LABELS), Count(len(pairs), "pairs of sentences", "pairs")
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
    variables = Variables(COORDS, WINO, STEREOTYPE_LABELS)
    variables.add("chosen_preference_gap", gap.mean[head], interval=gap.interval[head])
    return variables.arrays
