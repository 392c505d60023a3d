"""Triggers: words before texts that flip the answers of a class, judged on examples that the search has not read.

Wallace, Feng et al. 2019, section 3. Random words say what any words would do.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float

from headscope.corpora.tasks import Task
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import Tally, poisson_draws, tally
from headscope.statistics.intervals import of_differences
from headscope.statistics.split_half import split_in_half
from headscope.studies.size.ablate import STUDY
from headscope.studies.size.ablate.trigger_search import ClassTexts, searched, whole_pieces

# Examples of a class that are searched, and draws of random words.
SEARCHED, DRAWS = 64, 20
NAMES = ("trigger_flip", "random_flip", "trigger_lead")


def by_triggers(
    model: Model, task: Task, outputs: Float[np.ndarray, "example output"], number: int, settings: Settings
) -> dict[str, xr.DataArray]:
    """The share of right answers of each class that this many words flip, those of a search and random ones.

    * `outputs`: those of the dev examples, of which one half is searched, and the other judges.

    Raises `HeadscopeError` for a vocabulary without whole words.
    """
    pieces, targets, examples = whole_pieces(model.tokenizer), task.targets(task.dev), list(task.dev)
    if not pieces.words:
        raise HeadscopeError(f"--triggers: the vocabulary of model '{model.name}' has no whole words; leave it out")
    right, units = outputs.argmax(-1) == targets, np.array(task.dev.units)
    half, random = split_in_half(units, settings.seed), np.random.default_rng(settings.seed)
    draws = random.integers(len(pieces.words), size=(DRAWS, number)).tolist()
    rows = []
    for label in range(len(task.labels)):
        first, second = (np.flatnonzero(right & (targets == label) & part) for part in (half, ~half))
        searched_on, judged = (
            ClassTexts(model, task, [examples[index] for index in chosen.tolist()], label, pieces, settings)
            for chosen in (random.permutation(first)[:SEARCHED], second)
        )
        if len(first) and len(second):
            trigger = searched(searched_on, draws[0])
            flips = (judged.outputs([trigger, *draws]).argmax(-1) != label).astype(float)
            by_draws = flips[1:].mean(0)
            values = np.stack([flips[0], by_draws, flips[0] - by_draws], axis=-1)  # [example, number]
            resamples = poisson_draws(units[second].tolist(), settings.seed, settings.resamples)
            words = " ".join(pieces.words[index] for index in trigger)
            rows.append((words, tally(values, np.full(len(second), True), resamples)))
        else:
            rows.append(("", None))
    return _variables(task.labels, rows)


def _variables(labels: Sequence[str], rows: Sequence[tuple[str, Tally | None]]) -> dict[str, xr.DataArray]:
    triggers, tallies = zip(*rows, strict=True)
    variables = Variables({"flipped_class": labels}, STUDY.source, STUDY.labels)
    examples = [int(flips.count) if flips else 0 for flips in tallies]
    count = Count(examples, "right answers of each class on the other half", "examples", ("flipped_class",))
    for row, name in enumerate(NAMES):
        means = [flips.mean[row] if flips else np.nan for flips in tallies]
        bounds = [_bounds(flips)[row] if flips else [np.nan, np.nan] for flips in tallies]
        array = variables.add(name, means, interval=bounds, count=count)
        variables.arrays[name] = array.assign_coords(trigger=("flipped_class", list(triggers)))
    return variables.arrays


def _bounds(flips: Tally) -> Float[np.ndarray, "number 2"]:
    """The intervals of two shares and of their difference."""
    return np.concatenate([flips.share_interval[:2], of_differences(flips.interval[2:], flips.units)])
