"""Groups of held-out inputs, and what each loses in the saved model beside all others: a mean hides them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.encoding.encoded import Encoded
from headscope.models import Model
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws, tally
from headscope.statistics.intervals import equal_units, interval, of_differences, of_shares
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.judge import Judge
from headscope.studies.size.shrink.scores import Outputs
from headscope.studies.size.shrink.vocabulary import read_otherwise, with_new_unknown

Mask = Bool[np.ndarray, " example"]
Draws = Float[np.ndarray, "resample example"]

# The shortest and the longest third.
THIRD = 1 / 3
# A group or its rest has this many inputs at least.
LEAST = 10
WITHIN = ("group", "others")


def variables(
    judge: Judge,
    models: tuple[Model, Model],
    read: tuple[Sequence[Encoded], Sequence[Encoded]],
    answered: tuple[Outputs, Outputs],
) -> dict[str, xr.DataArray]:
    """What groups of inputs lose, and of a classification the share of changed predictions.

    * `models`: the whole one and the saved one; `read`: the inputs of both; `answered`: their outputs.
    """
    texts, settings = judge.texts, judge.settings
    marks = {
        "inputs read in other pieces": read_otherwise(*models, *read),
        "inputs with pieces that became unknown": with_new_unknown(*models, *read),
    }
    if (task := judge.task) is not None:
        words = "that are answered" if task.pseudo_labelled else "of class"
        labels = np.array([str(example.label) for example in texts.held_out])
        marks |= {f"inputs {words} {name}": labels == name for name in task.labels}
    losses, groups = judge.losses(*answered), input_groups([*map(len, read[0])], marks)
    draws = poisson_draws(texts.units, settings.seed, settings.resamples)
    arrays = group_losses(losses, groups, texts.units, judge, draws)
    if judge.classes:
        first, second = (outputs.argmax(-1) for outputs in answered)
        arrays |= changed_share(first != second, texts.units, draws)
    return arrays


def input_groups(lengths: Sequence[int], marks: Mapping[str, Mask]) -> dict[str, Mask]:
    """Groups of inputs by name: the shortest and the longest third, and those of the marks.

    * `lengths`: in tokens of the whole model; of equal lengths all or none are in a third.

    Groups of fewer than ten inputs, or with fewer than ten others, are left out.

    >>> list(input_groups([4] * 10 + [9] * 20, {"first": np.arange(30) < 15, "last": np.arange(30) > 25}))
    ['short inputs', 'first']
    """
    tokens = np.asarray(lengths)
    groups = {
        "short inputs": tokens <= np.quantile(tokens, THIRD),
        "long inputs": tokens > np.quantile(tokens, 1 - THIRD),
        **marks,
    }
    return {name: group for name, group in groups.items() if min(group.sum(), (~group).sum()) >= LEAST}


def group_losses(
    losses: Float[np.ndarray, " example"], groups: Mapping[str, Mask], units: Sequence[int], judge: Judge, draws: Draws
) -> dict[str, xr.DataArray]:
    """`group_loss` of each group and of all other inputs, with its interval; none without groups.

    * `units`: the number of what is resampled as a whole, for each input; `draws`: of these.
    """
    if not groups:
        return {}
    inside = np.stack([[group, ~group] for group in groups.values()])  # [group, within, example]
    valid = np.moveaxis(inside & ~np.isnan(losses), -1, 0)
    values = np.broadcast_to(np.nan_to_num(losses)[:, None, None, None], (len(losses), 1, *valid.shape[1:]))
    sums = tally(values, valid, draws)
    bounds = of_differences(sums.interval[0], sums.units) if judge.classes else sums.interval[0]
    label = replace(STUDY.labels["group_loss"], unit=judge.unit)
    arrays = Variables({"input_group": list(groups), "within": WITHIN}, STUDY.source, {"group_loss": label})
    count = Count(sums.count, "examples of each group and of the others", dims=label.dims)
    arrays.add("group_loss", sums.mean[0], interval=bounds, count=count)
    return arrays.arrays


def changed_share(changed: Bool[np.ndarray, " example"], units: Sequence[int], draws: Draws) -> dict[str, xr.DataArray]:
    """The variable `changed_share`, with its interval; see `group_losses`."""
    drawn: Float[np.ndarray, " resample"] = draws @ changed / np.maximum(draws.sum(1), 1)
    share, few = np.asarray(changed.mean()), equal_units(units)
    arrays = Variables({}, STUDY.source, STUDY.labels)
    arrays.add("changed_share", share, interval=of_shares(interval(drawn, few), share, few), count=len(changed))
    return arrays.arrays
