"""Groups of held-out inputs, and what each loses in the saved model beside all others: a mean over inputs hides them.

Without a task a text loses what the rank correlation of its similarities to other texts lacks to 1; in a classification
an input loses the answer that was right before alone, in a regression the growth of its absolute error. Where the
whole model's answers are the labels, it loses the agreement with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.corpora.tasks import Task
from headscope.results.variables import Count, Label, Variables
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.statistics.intervals import of_differences
from headscope.statistics.rank_correlation import spearman
from headscope.studies.shrink.answers import Outputs

Mask = Bool[np.ndarray, " example"]

# The shortest and the longest third.
THIRD = 1 / 3
# A text's similarities to so many others are ranked, and a group or its rest has so many inputs at least.
MOST_OTHERS, LEAST = 500, 10
WITHIN = ("group", "others")
SOURCE = "held-out examples by group, in the whole model and in the saved one"
LOSS = Label("what inputs lose in the saved model", "accuracy", ("input_group", "within"))
UNITS = {"classification": "accuracy", "regression": "absolute error"}
UNITS_OF_ANSWERS = {"classification": "class agreement", "regression": "absolute difference"}


def input_losses(
    task: Task | None, before: Outputs, after: Outputs, targets: Float[np.ndarray, " example"] | None, seed: int
) -> Float[np.ndarray, " example"]:
    """What each input loses, below 0 for a gain.

    >>> task = Task(name="made", kind="regression", metrics=("pearson",), dev=None)
    >>> input_losses(task, np.array([[1.0], [2.0]]), np.array([[1.5], [3.0]]), np.array([1.0, 3.0]), 0)
    array([ 0.5, -1. ])
    """
    if task is None or targets is None:
        return 1 - _agreements(before, after, seed)
    if task.kind == "classification":
        right = [(outputs.argmax(-1) == targets).astype(float) for outputs in (before, after)]
        return right[0] - right[1]
    errors = [abs(outputs[:, 0] - targets) for outputs in (before, after)]
    return errors[1] - errors[0]


def _agreements(before: Outputs, after: Outputs, seed: int) -> Float[np.ndarray, " text"]:
    """The rank correlation of each text's similarities to other texts, of both models; NaN for fewer than three."""
    number = len(before)
    others = np.sort(np.random.default_rng(seed).permutation(number)[: MOST_OTHERS + 1])
    found = np.full(number, np.nan)
    for text in range(number if number > 2 else 0):
        beside = others[others != text][:MOST_OTHERS]
        one, other = (outputs[beside] @ outputs[text] for outputs in (before, after))
        found[text] = spearman(one, other)
    return found


def input_groups(
    lengths: Sequence[int], marks: Mapping[str, Mask], labels: Sequence[str] = (), classes: Sequence[str] = ()
) -> dict[str, Mask]:
    """Groups of inputs by name: the shortest and the longest third, those of the marks, and those of each class.

    * `lengths`: in tokens of the whole model; of equal lengths all or none are in a third.
    * `marks`: further groups.

    Groups of fewer than ten inputs, or with fewer than ten others, are left out.

    >>> list(input_groups([4] * 10 + [9] * 20, {}, ["no"] * 15 + ["yes"] * 15, ["no", "yes"]))
    ['short inputs', 'inputs of class no', 'inputs of class yes']
    """
    tokens, names = np.asarray(lengths), np.asarray(labels)
    groups = {
        "short inputs": tokens <= np.quantile(tokens, THIRD),
        "long inputs": tokens > np.quantile(tokens, 1 - THIRD),
        **marks,
        **{f"inputs of class {name}": names == name for name in classes},
    }
    return {name: group for name, group in groups.items() if min(group.sum(), (~group).sum()) >= LEAST}


def _units(task: Task | None) -> str:
    """The unit of what inputs lose."""
    if task is None:
        return "rank correlation"
    return (UNITS_OF_ANSWERS if "dev" in task.pseudo_labelled else UNITS)[task.kind]


def variables(
    losses: Float[np.ndarray, " example"],
    groups: Mapping[str, Mask],
    units: Sequence[int],
    task: Task | None,
    seed: int,
    resamples: int,
) -> dict[str, xr.DataArray]:
    """`group_loss` of each group and of all other inputs, with its interval; none without groups.

    * `units`: the number of what is resampled as a whole, for each input.
    """
    if not groups:
        return {}
    inside = np.stack([[group, ~group] for group in groups.values()])  # [group, within, example]
    valid = np.moveaxis(inside & ~np.isnan(losses), -1, 0)
    values = np.broadcast_to(np.nan_to_num(losses)[:, None, None, None], (len(losses), 1, *valid.shape[1:]))
    found = tally(values, valid, poisson_draws(units, seed, resamples))
    bounds = found.interval[0]
    if task is not None and task.kind == "classification":
        bounds = of_differences(bounds, found.units)
    label = replace(LOSS, units=_units(task))
    made = Variables({"input_group": list(groups), "within": WITHIN}, SOURCE, {"group_loss": label})
    count = Count(found.count, "examples of each group and of the others", dims=label.dims)
    made.add("group_loss", found.mean[0], interval=bounds, count=count)
    return made.arrays
