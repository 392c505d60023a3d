"""Scores as variables of a result."""

from collections.abc import Iterable, Mapping

import numpy as np
import xarray as xr

from headscope.results.best_heads import add_held_out, add_place
from headscope.results.variables import Count, Variables, by_layer
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import BestHead, column
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.relations.link_attention import DIRECTIONS
from headscope.studies.relations.scores import LinkScore

SOURCE = "Kovaleva et al. 2019, section 4.2"
SHARE = "share of attention"
SPECIAL = "whether links gain 0.1 on both, with q < 0.05, in at least 50 sentences, and beat all untrained heads"
PERCENTILE = 99
DIMS = ("layer", "head", "relation", "direction")
BASELINES = {
    "elsewhere": "attention between words of the same distance elsewhere",
    "others": "attention from other words to the same end of a link",
    "gain": "attention of links less that of links elsewhere",
    "gain_others": "attention of links less that from other words",
}
OTHER_HALF = {
    "chosen_attention": "attention of links in the chosen head, on the other half",
    "chosen_elsewhere": "attention of links elsewhere in the chosen head, on the other half",
    "chosen_others": "attention from other words to the same end of a link in the chosen head, on the other half",
    "chosen_gain": "attention of links less that of links elsewhere in the chosen head, on the other half",
    "chosen_gain_others": "attention of links less that from other words in the chosen head, on the other half",
}


def to_variables(
    scores: Mapping[str, LinkScore],
    best: Mapping[str, BestHead | None],
    heads: tuple[int, ...],
    untrained: Mapping[str, Tally] | None = None,
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    variables = Variables({"relation": list(scores), "direction": DIRECTIONS}, SOURCE)

    def add(name: str, tallies: Iterable[Tally], long_name: str, cases: str) -> xr.DataArray:
        return _add_mean(variables, name, list(tallies), heads, long_name=long_name, cases=cases)

    long_name = "attention from one end of a link to the other"
    linked = (each.linked for each in scores.values())
    attention = add("link_attention", linked, long_name, "sentences with a link of each relation")
    if untrained:
        cases = "sentences that the untrained model has read"
        add("untrained", untrained.values(), f"{long_name} in an untrained model", cases)
    for name, long_name in BASELINES.items():
        tallies = (getattr(each, name) for each in scores.values())
        add(name, tallies, long_name, "sentences that can be compared")
    variables.add(
        "percentile",
        _percentile(attention),
        ("relation", "direction"),
        long_name="99th percentile of the attention of links over all heads",
        units=SHARE,
    )
    _add_tests(variables, np.stack([each.p for each in scores.values()], axis=1), heads)
    _add_best(variables, list(best.values()), heads)
    return variables.arrays


def _add_mean(
    variables: Variables, name: str, tallies: list[Tally], heads: tuple[int, ...], *, long_name: str, cases: str
) -> xr.DataArray:
    means, intervals = (
        by_layer(np.stack([getattr(each, part) for each in tallies], axis=1), heads)  # [layer, head, relation, ...]
        for part in ("mean", "interval")
    )
    count = Count([int(each.count[0]) for each in tallies], cases, "sentences", ("relation",))
    return variables.add(name, means, DIMS, long_name=long_name, units=SHARE, interval=intervals, count=count)


def _percentile(attention: xr.DataArray) -> np.ndarray:
    """The percentile over the heads that there are: a layer may have fewer than another; NaN where nothing is known."""
    flat = attention.stack(place=("layer", "head")).dropna("place", how="all")  # [relation, direction, head]
    return flat.quantile(PERCENTILE / 100, "place", skipna=False).values  # a relation has all heads, or none


def _add_tests(variables: Variables, p: np.ndarray, heads: tuple[int, ...]) -> None:
    """Add q-values and special heads; `p` of [head, relation, direction]."""
    arrays = variables.arrays
    cases, gain = arrays["gain_n_examples"], arrays["gain"]
    p = np.where(cases.values[:, None] > 0, by_layer(p, heads), np.nan)
    long_name = "false discovery rate at which links get more than links elsewhere and than from other words"
    q = variables.add("q_value", benjamini_hochberg(p), DIMS, long_name=long_name, units="rate")
    special = (gain >= GAIN) & (arrays["gain_others"] >= GAIN) & (q < RATE) & (cases >= LEAST_CASES)
    if "untrained" in arrays:
        special &= arrays["link_attention"] > arrays["untrained"].max(["layer", "head"])
    values = special.where(gain.notnull()).astype(float).values
    variables.add("special", values, DIMS, long_name=SPECIAL, units="1 if so")


def _add_best(variables: Variables, best: list[BestHead | None], heads: tuple[int, ...]) -> None:
    add_place(variables, best, "relation", heads, "the head that gains most on one half")
    directions = column(best, lambda each: DIRECTIONS[each.selected.direction], "")
    long_name = "direction in which that head gains most"
    variables.add("chosen_direction", directions, ("relation",), long_name=long_name, units="direction")
    sentences = column(best, lambda each: int(each.held_out.count), 0)
    count = Count(sentences, "sentences of each relation on the other half", "sentences", ("relation",))
    add_held_out(variables, best, "relation", OTHER_HALF, SHARE, count)
