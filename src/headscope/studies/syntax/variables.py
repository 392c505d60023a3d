"""Scores as labelled variables of a result."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.variables import array, by_layer, described, places
from headscope.results.vocabulary import BOUNDS, DIRECTIONS
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.syntax.scores import Chosen, Score

SOURCE = "Clark et al. 2019, section 4.2"
HELD_OUT = ("chosen_accuracy", "chosen_baseline", "chosen_gain")
LONG_NAMES = {
    "accuracy": "words whose syntactic head the attention picks",
    "accuracy_n_examples": "words of each relation",
    "baseline": "words whose syntactic head is at the best fixed offset",
    "baseline_offset": "best fixed offset of the syntactic head",
    "q_value": "false discovery rate at which the head is better than the fixed offset",
    "special": "whether the head beats the fixed offset by 10 points, with q < 0.05, in at least 50 words",
    "chosen_accuracy": "words whose syntactic head the chosen head picks, on the other half",
    "chosen_accuracy_n_examples": "words of each relation on the other half",
    "chosen_baseline": "words whose syntactic head is at the chosen offset, on the other half",
    "chosen_gain": "accuracy of the chosen head less that of the chosen offset, on the other half",
    "chosen_layer": "layer of the head that is best on one half",
    "chosen_head": "number in its layer of the head that is best on one half",
    "chosen_direction": "direction in which that head is best",
    "chosen_offset": "best fixed offset on one half",
}
UNITS = {
    "baseline_offset": "words",
    "chosen_offset": "words",
    "q_value": "rate",
    "special": "1 if so",
    "chosen_layer": "layer",
    "chosen_head": "head",
    "chosen_direction": "direction",
}


def labelled(
    scores: Mapping[str, Score], choices: Mapping[str, Chosen | None], heads: tuple[int, ...]
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    found = {name: _variable(name, array) for name, array in (_all_heads(scores, heads) | _offsets(scores)).items()}
    return found | {name: _variable(name, array) for name, array in _choices(choices, heads).items()}


def _all_heads(scores: Mapping[str, Score], heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    def placed(values: list[np.ndarray], *dims: str) -> xr.DataArray:
        return _array(by_layer(np.stack(values, axis=1), heads), ("layer", "head", "relation", *dims), scores)

    accuracy = placed([each.accuracy.mean for each in scores.values()], "direction")
    q = placed([each.p for each in scores.values()], "direction").copy()
    counts = [int(each.baseline.count) for each in scores.values()]
    words = _array(counts, ("relation",), scores)
    q.values = benjamini_hochberg(q.where(words > 0).values)
    baseline = _array([each.baseline.mean[0] for each in scores.values()], ("relation",), scores)
    special = (accuracy - baseline >= GAIN) & (q < RATE) & (words >= LEAST_CASES)
    return {
        "accuracy": accuracy,
        "accuracy_ci": placed([each.accuracy.interval for each in scores.values()], "direction", "bound"),
        "accuracy_n_examples": words,
        "q_value": q,
        "special": special.where(accuracy.notnull()).astype(float),
    }


def _offsets(scores: Mapping[str, Score]) -> dict[str, xr.DataArray]:
    each = scores.values()
    return {
        "baseline": _array([one.baseline.mean[0] for one in each], ("relation",), scores),
        "baseline_ci": _array([one.baseline.interval[0] for one in each], ("relation", "bound"), scores),
        "baseline_offset": _array([one.offset for one in each], ("relation",), scores),
    }


def _choices(choices: Mapping[str, Chosen | None], heads: tuple[int, ...]) -> dict[str, xr.DataArray]:
    def column(value: Any, missing: Any, *dims: str) -> xr.DataArray:
        values = [missing if one is None else value(one) for one in choices.values()]
        return _array(values, ("relation", *dims), choices)

    place = places(heads)
    found = {
        "chosen_layer": column(lambda one: place[one.head][0], np.nan),
        "chosen_head": column(lambda one: place[one.head][1], np.nan),
        "chosen_direction": column(lambda one: DIRECTIONS[one.direction], ""),
        "chosen_offset": column(lambda one: one.offset, np.nan),
        "chosen_accuracy_n_examples": column(lambda one: int(one.held_out.count), 0),
    }
    for row, name in enumerate(HELD_OUT):
        found[name] = column(lambda one, row=row: one.held_out.mean[row], np.nan)
        found[f"{name}_ci"] = column(lambda one, row=row: one.held_out.interval[row], [np.nan] * 2, "bound")
    return found


def _array(values: Any, dims: tuple[str, ...], relations: Mapping[str, Any]) -> xr.DataArray:
    return array(values, dims, {"relation": list(relations), "direction": DIRECTIONS, "bound": BOUNDS})


def _variable(name: str, values: xr.DataArray) -> xr.DataArray:
    mean = name.removesuffix("_ci")
    units = "words" if name.endswith("_n_examples") else UNITS.get(mean, "share of words")
    return described(name, values, LONG_NAMES[mean], units, SOURCE)
