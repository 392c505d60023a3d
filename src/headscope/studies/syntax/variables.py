"""Scores as variables of a result."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from headscope.results.best_heads import add_held_out, add_place
from headscope.results.variables import Count, Variables, by_layer
from headscope.results.vocabulary import DIRECTIONS
from headscope.statistics.significance import benjamini_hochberg
from headscope.statistics.split_half import BestHead, column
from headscope.statistics.thresholds import GAIN, LEAST_CASES, RATE
from headscope.studies.syntax.scores import RelationScore

SOURCE = "Clark et al. 2019, section 4.2"
SHARE = "share of words"
OTHER_HALF = {
    "chosen_accuracy": "words whose syntactic head the chosen head picks, on the other half",
    "chosen_baseline": "words whose syntactic head is at the chosen offset, on the other half",
    "chosen_gain": "accuracy of the chosen head less that of the chosen offset, on the other half",
}


def to_variables(
    scores: Mapping[str, RelationScore], best: Mapping[str, BestHead | None], heads: tuple[int, ...]
) -> dict[str, xr.DataArray]:
    """The variables of a result, with the relations in their order; `heads` is the number of heads of each layer."""
    variables = Variables({"relation": list(scores), "direction": DIRECTIONS}, SOURCE)
    _add_heads(variables, list(scores.values()), heads)
    _add_offsets(variables, list(scores.values()))
    _add_best(variables, list(best.values()), heads)
    return variables.arrays


def _add_heads(variables: Variables, scores: list[RelationScore], heads: tuple[int, ...]) -> None:
    def placed(values: list[np.ndarray]) -> np.ndarray:
        return by_layer(np.stack(values, axis=1), heads)  # [layer, head, relation, ...]

    dims = ("layer", "head", "relation", "direction")
    words = np.array([int(each.baseline.count) for each in scores])
    accuracy = variables.add(
        "accuracy",
        placed([each.accuracy.mean for each in scores]),
        dims,
        long_name="words whose syntactic head the attention picks",
        units=SHARE,
        interval=placed([each.accuracy.interval for each in scores]),
        count=Count(words, "words of each relation", "words", ("relation",)),
    )
    q = benjamini_hochberg(np.where(words[:, None] > 0, placed([each.p for each in scores]), np.nan))
    long_name = "false discovery rate at which the head is better than the fixed offset"
    variables.add("q_value", q, dims, long_name=long_name, units="rate")
    gain = placed([each.held_out_gain for each in scores])
    special = (gain >= GAIN) & (q < RATE) & (words[:, None] >= LEAST_CASES)
    variables.add(
        "special",
        np.where(np.isnan(accuracy.values), np.nan, special),
        dims,
        long_name="whether the head beats the fixed offset by 10 points on the other half, with q < 0.05, in 50 words",
        units="1 if so",
    )


def _add_offsets(variables: Variables, scores: list[RelationScore]) -> None:
    variables.add(
        "baseline",
        [each.baseline.mean[0] for each in scores],
        ("relation",),
        long_name="words whose syntactic head is at the best fixed offset",
        units=SHARE,
        interval=[each.baseline.interval[0] for each in scores],
    )
    offsets = [each.offset for each in scores]
    long_name = "best fixed offset of the syntactic head"
    variables.add("baseline_offset", offsets, ("relation",), long_name=long_name, units="words")


def _add_best(variables: Variables, best: list[BestHead | None], heads: tuple[int, ...]) -> None:
    add_place(variables, best, "relation", heads, "the head that is best on one half")
    directions = column(best, lambda each: DIRECTIONS[each.selected.direction], "")
    long_name = "direction in which that head is best"
    variables.add("chosen_direction", directions, ("relation",), long_name=long_name, units="direction")
    offsets = column(best, lambda each: each.selected.baseline)
    variables.add("chosen_offset", offsets, ("relation",), long_name="best fixed offset on one half", units="words")
    words = column(best, lambda each: int(each.held_out.count), 0)
    count = Count(words, "words of each relation on the other half", "words", ("relation",))
    add_held_out(variables, best, "relation", OTHER_HALF, SHARE, count)
