"""Scores of a corpus that asks questions, as variables: F1 by gender (GAP), effects of stereotypes (WinoBias)."""

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables, by_layer
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg
from headscope.studies.coreference import baselines, gender_bias
from headscope.studies.coreference.gender_bias import F1
from headscope.studies.coreference.stereotypes import STEREOTYPES, Pairs

Heads = tuple[int, ...]
WEBSTER = "Webster et al. 2018, section 4"
WINO = "Zhao et al. 2018; Rudinger et al. 2018"
LABELS = {"baseline": baselines.NAMES, "gender": gender_bias.NAMES, "stereotype": STEREOTYPES}


def gender_variables(every: F1, base: F1, counts: list[int], heads: Heads) -> dict[str, xr.DataArray]:
    """F1 of all heads and of the baselines, by gender."""
    variables = Variables(LABELS, WEBSTER)
    variables.add(
        "f1",
        by_layer(every.f1, heads),
        ("layer", "head", "gender"),
        long_name="F1 of names called coreferent with a pronoun",
        units="F1",
        interval=by_layer(every.f1_interval, heads),
        count=Count(counts, "pronouns", "pronouns", ("gender",)),
    )
    variables.add(
        "bias_ratio",
        by_layer(every.ratio, heads),
        ("layer", "head"),
        long_name="F1 of feminine pronouns over that of masculine ones",
        units="ratio",
        interval=by_layer(every.ratio_interval, heads),
    )
    _add_baselines(variables, base)
    return variables.arrays


def _add_baselines(variables: Variables, base: F1, prefix: str = "", where: str = "") -> None:
    variables.add(
        f"{prefix}baseline_f1",
        base.f1,
        ("baseline", "gender"),
        long_name=f"F1 of names that a baseline calls coreferent with a pronoun{where}",
        units="F1",
        interval=base.f1_interval,
    )
    variables.add(
        f"{prefix}baseline_bias_ratio",
        base.ratio,
        ("baseline",),
        long_name=f"F1 of feminine over masculine pronouns, of a baseline{where}",
        units="ratio",
        interval=base.ratio_interval,
    )


def best_gender_variables(one: F1, base: F1, counts: list[int]) -> dict[str, xr.DataArray]:
    """F1 by gender of the chosen head and of the baselines, on the half on which the head was not chosen."""
    variables = Variables(LABELS, WEBSTER)
    _add_baselines(variables, base, "chosen_", ", on the other half")
    variables.add(
        "chosen_f1",
        one.f1[0],
        ("gender",),
        long_name="F1 of the head that is chosen on one half, on the other half",
        units="F1",
        interval=one.f1_interval[0],
        count=Count(counts, "pronouns on the other half", "pronouns", ("gender",)),
    )
    variables.add(
        "chosen_bias_ratio",
        one.ratio[0],
        long_name="F1 of feminine over masculine pronouns of the chosen head",
        units="ratio",
        interval=one.ratio_interval[0],
    )
    return variables.arrays


def stereotype_variables(pairs: Pairs, draws: np.ndarray, heads: Heads) -> dict[str, xr.DataArray]:
    """Attention and preference in pro and anti sentences, and their gaps."""
    variables = Variables(LABELS, WINO)
    for name, values, p, units, long_name, gap_name in (
        (
            "attention",
            pairs.attention,
            pairs.attention_p(),
            "share of attention",
            "attention of the pronoun to the candidate of the stereotype",
            "attention to that candidate in the pro sentence less that in the anti one",
        ),
        (
            "preference",
            pairs.preferred,
            pairs.preferred_p(),
            "share of sentences",
            "sentences in which that candidate gets more attention than the other",
            "preference in pro sentences less that in anti sentences",
        ),
    ):
        both, gap = pairs.tallied(values, draws)
        variables.add(
            name,
            by_layer(both.mean.T, heads),  # [layer, head, stereotype]
            ("layer", "head", "stereotype"),
            long_name=long_name,
            units=units,
            interval=by_layer(both.interval.swapaxes(0, 1), heads),  # [layer, head, stereotype, bound]
            count=Count(len(pairs), "pairs of sentences", "pairs"),
        )
        variables.add(
            f"{name}_gap",
            by_layer(gap.mean, heads),
            ("layer", "head"),
            long_name=gap_name,
            units=units,
            interval=by_layer(gap.interval, heads),
        )
        q, long_name = benjamini_hochberg(by_layer(p, heads)), "false discovery rate at which there is such a gap"
        variables.add(f"{name}_gap_q", q, ("layer", "head"), long_name=long_name, units="rate")
    return variables.arrays


def best_gap_variables(gap: Tally, head: int) -> dict[str, xr.DataArray]:
    """The preference gap of the chosen head, on the half on which it was not chosen."""
    variables = Variables(LABELS, WINO)
    variables.add(
        "chosen_preference_gap",
        gap.mean[head],
        long_name="preference gap of the chosen head, on the other half",
        units="share of sentences",
        interval=gap.interval[head],
    )
    return variables.arrays
