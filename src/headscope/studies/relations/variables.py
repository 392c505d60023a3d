"""Scores as variables of a result."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.variables import Count, Label, Variables, add_held_out, add_place, by_layer, place_labels
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import GAIN, LEAST_CASES, RATE, benjamini_hochberg
from headscope.statistics.split_half import BestHead, column
from headscope.studies.relations.link_attention import DIRECTIONS
from headscope.studies.relations.scores import LinkScore

SOURCE = "Kovaleva et al. 2019, section 4.2"
SHARE = "share of attention"
PERCENTILE = 99
OF_HEADS, OF_RELATIONS = ("layer", "head", "relation", "direction"), ("relation",)
LINK = "attention from one end of a link to the other"
# The number of cases of each mean.
CASES = {
    "link_attention": "sentences with a link of each relation",
    "untrained": "sentences that the untrained model has read",
}
BASELINES = {
    "elsewhere": Label("attention between words of the same distance elsewhere", SHARE, OF_HEADS),
    "others": Label("attention from other words to the same end of a link", SHARE, OF_HEADS),
    "gain": Label("attention of links less that of links elsewhere", SHARE, OF_HEADS),
    "gain_others": Label("attention of links less that from other words", SHARE, OF_HEADS),
}
OTHER_HALF = {
    f"chosen_{name}": Label(f"{long_name} in the chosen head, on the other half", SHARE, OF_RELATIONS)
    for name, long_name in (
        ("attention", "attention of links"),
        ("elsewhere", "attention of links elsewhere"),
        ("others", "attention from other words to the same end of a link"),
        ("gain", "attention of links less that of links elsewhere"),
        ("gain_others", "attention of links less that from other words"),
    )
}
LABELS = {
    "link_attention": Label(LINK, SHARE, OF_HEADS),
    "untrained": Label(f"{LINK} in an untrained model", SHARE, OF_HEADS),
    "untrained_gain": Label("mean gain of the heads of an untrained model over both baselines", SHARE, ("seed",)),
    **BASELINES,
    "percentile": Label("99th percentile of the attention of links over all heads", SHARE, ("relation", "direction")),
    "q_value": Label(
        "false discovery rate at which links get more than links elsewhere and than from other words", "rate", OF_HEADS
    ),
    "special": Label(
        "whether links gain 0.1 on both, with q < 0.05, in at least 50 sentences, and beat all untrained heads",
        "1 if so",
        OF_HEADS,
    ),
    **place_labels("the head that gains most on one half", "relation"),
    "chosen_direction": Label("direction in which that head gains most", "direction", OF_RELATIONS),
    **OTHER_HALF,
}


def to_variables(
    scores: Mapping[str, LinkScore],
    best: Mapping[str, BestHead | None],
    heads: tuple[int, ...],
    untrained: Mapping[str, Tally] | None = None,
    by_seed: Mapping[int, float] | None = None,
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    coords = {"relation": list(scores), "direction": DIRECTIONS, "seed": list(by_seed or ())}
    variables = Variables(coords, SOURCE, LABELS)
    attention = _add_mean(variables, "link_attention", [score.linked for score in scores.values()], heads)
    if untrained:
        _add_mean(variables, "untrained", list(untrained.values()), heads)
    if by_seed:
        variables.add("untrained_gain", list(by_seed.values()))
    for name in BASELINES:
        _add_mean(variables, name, [getattr(score, name) for score in scores.values()], heads)
    variables.add("percentile", _percentile(attention))
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


def _percentile(attention: xr.DataArray) -> np.ndarray:
    """The percentile over the heads that there are: a layer may have fewer than another; NaN where nothing is known."""
    flat = attention.stack(place=("layer", "head")).dropna("place", how="all")  # [relation, direction, head]
    return flat.quantile(PERCENTILE / 100, "place", skipna=False).values  # a relation has all heads, or none


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
    variables.add("chosen_direction", column(best, lambda one: DIRECTIONS[one.selected.direction], ""))
    sentences = column(best, lambda one: int(one.held_out.count), 0)
    count = Count(sentences, "sentences of each relation on the other half", "sentences", ("relation",))
    add_held_out(variables, best, list(OTHER_HALF), count)
