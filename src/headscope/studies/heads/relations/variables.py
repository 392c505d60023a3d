"""Scores as variables of a result."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Variables, add_held_out, add_place, by_layer
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column
from headscope.studies.heads.relations import STUDY
from headscope.studies.heads.relations.link_attention import DIRECTIONS
from headscope.studies.heads.relations.scores import HELD_OUT, LinkScore

PERCENTILE = 99
# The number of cases of each mean.
CASES = {
    "link_attention": "sentences with a link of each relation",
    "untrained": "sentences that the untrained model has read",
}
BASELINES = ("elsewhere", "others", "gain", "gain_others")


def to_variables(
    scores: Mapping[str, LinkScore],
    best: Mapping[str, BestHead | None],
    heads: tuple[int, ...],
    untrained: Mapping[str, Tally] | None = None,
    by_seed: Mapping[int, float] | None = None,
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    coords = {"relation": list(scores), "direction": DIRECTIONS, "seed": list(by_seed or ())}
    variables = Variables(coords, STUDY.source, STUDY.labels)
    attention = _add_mean(variables, "link_attention", [score.linked for score in scores.values()], heads)
    if untrained:
        _add_mean(variables, "untrained", list(untrained.values()), heads)
    if by_seed:
        variables.add("untrained_gain", list(by_seed.values()))
    for name in BASELINES:
        _add_mean(variables, name, [getattr(score, name) for score in scores.values()], heads)
    # over the heads that there are: a layer may have fewer than another; a relation has all of them, or none
    flat = attention.stack(place=("layer", "head")).dropna("place", how="all")  # [relation, direction, head]
    variables.add("percentile", flat.quantile(PERCENTILE / 100, "place", skipna=False).values)
    _add_tests(variables, np.stack([score.p for score in scores.values()], axis=1), heads)
    _add_best(variables, list(best.values()), heads)
    return variables.arrays


def _add_mean(variables: Variables, name: str, tallies: list[Tally], heads: tuple[int, ...]) -> xr.DataArray:
    means, intervals = (
        by_layer(np.stack([getattr(tally, part) for tally in tallies], axis=1), heads)  # [layer, head, relation, ...]
        for part in ("mean", "interval")
    )
    cases = CASES.get(name, "sentences that can be compared")
    count = Count([int(tally.count[0]) for tally in tallies], cases, "sentences", ("relation",))
    return variables.add(name, means, interval=intervals, count=count)


def _add_tests(variables: Variables, p: np.ndarray, heads: tuple[int, ...]) -> None:
    """Add q-values and special heads; `p` of [head, relation, direction]."""
    arrays = variables.arrays
    cases, gain = arrays["gain_n_examples"], arrays["gain"]
    p = np.where(cases.values[:, None] > 0, by_layer(p, heads), np.nan)
    q = variables.add("q_value", benjamini_hochberg(p))
    special = (gain >= GAIN) & (arrays["gain_others"] >= GAIN) & (q < RATE) & (cases >= LEAST_CASES)
    if "untrained" in arrays:
        special &= arrays["link_attention"] > arrays["untrained"].max(["layer", "head"])
    variables.add("special", special.where(gain.notnull()).astype(float).values)


def _add_best(variables: Variables, best: list[BestHead | None], heads: tuple[int, ...]) -> None:
    add_place(variables, best, heads)
    variables.add("chosen_direction", column(best, lambda head: DIRECTIONS[head.selected.direction], ""))
    add_held_out(variables, best, [f"chosen_{name}" for name in HELD_OUT], "sentences of each relation")
