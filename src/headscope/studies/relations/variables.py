"""Scores as labelled variables of a result."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variables import array, by_layer, described, places
from headscope.results.vocabulary import BOUNDS
from headscope.statistics.bootstrap import Tally
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.relations.link_attention import DIRECTIONS
from headscope.studies.relations.scores import HELD_OUT, Chosen, Score

SOURCE = "Kovaleva et al. 2019, section 4.2"
PERCENTILE = 99
LONG_NAMES = {
    "link_attention": "attention from one end of a link to the other",
    "link_attention_n_examples": "sentences with a link of each relation",
    "elsewhere": "attention between words of the same distance elsewhere",
    "elsewhere_n_examples": "sentences that can be compared",
    "others": "attention from other words to the same end of a link",
    "others_n_examples": "sentences that can be compared",
    "gain": "attention of links less that of links elsewhere",
    "gain_n_examples": "sentences that can be compared",
    "gain_others": "attention of links less that from other words",
    "gain_others_n_examples": "sentences that can be compared",
    "untrained": "attention from one end of a link to the other in an untrained model",
    "untrained_n_examples": "sentences that the untrained model has read",
    "percentile": "99th percentile of the attention of links over all heads",
    "q_value": "false discovery rate at which links get more than links elsewhere and than from other words",
    "special": "whether links gain 0.1 on both, with q < 0.05, in at least 50 sentences, and beat all untrained heads",
    "chosen_attention": "attention of links in the chosen head, on the other half",
    "chosen_attention_n_examples": "sentences of each relation on the other half",
    "chosen_elsewhere": "attention of links elsewhere in the chosen head, on the other half",
    "chosen_others": "attention from other words to the same end of a link in the chosen head, on the other half",
    "chosen_gain": "attention of links less that of links elsewhere in the chosen head, on the other half",
    "chosen_gain_others": "attention of links less that from other words in the chosen head, on the other half",
    "chosen_layer": "layer of the head that gains most on one half",
    "chosen_head": "number in its layer of the head that gains most on one half",
    "chosen_direction": "direction in which that head gains most",
}
UNITS = {
    "q_value": "rate",
    "special": "1 if so",
    "chosen_layer": "layer",
    "chosen_head": "head",
    "chosen_direction": "direction",
}
BASELINES = ("elsewhere", "others", "gain", "gain_others")


def labelled(
    scores: Mapping[str, Score],
    choices: Mapping[str, Chosen | None],
    heads: tuple[int, ...],
    untrained: Mapping[str, Tally] | None = None,
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    found = {
        **_means("link_attention", {name: each.linked for name, each in scores.items()}, heads),
        **(_means("untrained", untrained, heads) if untrained else {}),
    }
    for name in BASELINES:
        found |= _means(name, {relation: getattr(each, name) for relation, each in scores.items()}, heads)
    found["percentile"] = _percentile(found["link_attention"])
    found |= _tests(scores, heads, found)
    found |= _choices(choices, heads)
    return {name: _variable(name, array) for name, array in found.items()}


def _means(name: str, tallies: Mapping[str, Tally], heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    dims = ("layer", "head", "relation", "direction")
    means, intervals = (
        by_layer(np.stack([getattr(each, part) for each in tallies.values()], axis=1), heads)
        for part in ("mean", "interval")
    )
    counts = [int(each.count[0]) for each in tallies.values()]
    return {
        name: _array(means, dims, tallies),
        f"{name}_ci": _array(intervals, (*dims, "bound"), tallies),
        f"{name}_n_examples": _array(counts, ("relation",), tallies),
    }


def _percentile(linked: xr.DataArray) -> xr.DataArray:
    """Of the heads that there are: a layer may have fewer than another."""
    flat = linked.stack(place=("layer", "head")).dropna("place", how="all")
    return flat.quantile(PERCENTILE / 100, "place").drop_vars("quantile")


def _tests(
    scores: Mapping[str, Score], heads: tuple[int, ...], found: Mapping[str, xr.DataArray]
) -> dict[str, xr.DataArray]:
    dims = ("layer", "head", "relation", "direction")
    q = _array(by_layer(np.stack([each.p for each in scores.values()], axis=1), heads), dims, scores).copy()
    cases = found["gain_n_examples"]
    q.values = benjamini_hochberg(q.where(cases > 0).values)
    special = (found["gain"] >= GAIN) & (found["gain_others"] >= GAIN) & (q < RATE) & (cases >= LEAST_CASES)
    if "untrained" in found:
        special &= found["link_attention"] > found["untrained"].max(["layer", "head"])
    return {"q_value": q, "special": special.where(found["gain"].notnull()).astype(float)}


def _choices(choices: Mapping[str, Chosen | None], heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    def column(value: Any, missing: Any, *dims: str) -> xr.DataArray:
        values = [missing if one is None else value(one) for one in choices.values()]
        return _array(values, ("relation", *dims), choices)

    place = places(heads)
    found = {
        "chosen_layer": column(lambda one: place[one.head][0], np.nan),
        "chosen_head": column(lambda one: place[one.head][1], np.nan),
        "chosen_direction": column(lambda one: DIRECTIONS[one.direction], ""),
        "chosen_attention_n_examples": column(lambda one: int(one.held_out.count), 0),
    }
    for row, name in enumerate(HELD_OUT):
        found[f"chosen_{name}"] = column(lambda one, row=row: one.held_out.mean[row], np.nan)
        found[f"chosen_{name}_ci"] = column(lambda one, row=row: one.held_out.interval[row], [np.nan] * 2, "bound")
    return found


def _array(values: Any, dims: tuple[str, ...], relations: Mapping[str, Any]) -> xr.DataArray:
    return array(values, dims, {"relation": list(relations), "direction": DIRECTIONS, "bound": BOUNDS})


def _variable(name: str, values: xr.DataArray) -> xr.DataArray:
    mean = name.removesuffix("_ci")
    units = "sentences" if name.endswith("_n_examples") else UNITS.get(mean, "share of attention")
    return described(name, values, LONG_NAMES[mean], units, SOURCE)
