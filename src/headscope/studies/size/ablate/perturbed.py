"""Predictions that stay when examples are changed, beside the score: a score may stay where predictions do not."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.corpora.tasks import Task, intervals, resampled, score
from headscope.corpora.tasks.perturbations import PERTURBATIONS, perturbed
from headscope.models import Model
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import Settings
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units
from headscope.studies.size.ablate import STUDY

NAMES = ("prediction_kept", "perturbed_score", "kept_by_chance")


def by_perturbation(
    model: Model, task: Task, outputs: Float[np.ndarray, "example output"], settings: Settings
) -> dict[str, xr.DataArray]:
    """The share of predictions that stay with each change, and the accuracy, of the examples that can be changed.

    * `outputs`: those of the unchanged dev examples.
    """
    targets = task.targets(task.dev)
    rows = {}
    for name in PERTURBATIONS:
        changed, numbers = perturbed(task.dev, name, settings.seed)
        if numbers:
            made = task_outputs(task_inputs(model, task, changed), settings.quiet).argmax(-1)
            units = [task.dev.units[number] for number in numbers]
            rows[name] = _row(outputs[numbers].argmax(-1), made, targets[numbers], units, settings)
    if not rows:
        return {}
    variables = Variables({"perturbation": list(rows)}, STUDY.source, STUDY.labels)
    for index, variable in enumerate(NAMES):
        values, bounds, counts = zip(*(row[index] for row in rows.values()), strict=True)
        interval = None if bounds[0] is None else np.array(bounds)
        count = Count(counts, f"examples of {variable}", "examples", ("perturbation",))
        variables.add(variable, values, interval=interval, count=count)
    return variables.arrays


def _row(
    before: Int[np.ndarray, " example"],
    after: Int[np.ndarray, " example"],
    targets: Float[np.ndarray, " example"],
    units: Sequence[int],
    settings: Settings,
) -> list[tuple[float, np.ndarray | None, int]]:
    """The shares of predictions that stay and that are right, and of those that would stay by chance: no interval."""
    draws = poisson_draws(units, settings.seed, settings.resamples)
    ones = np.ones(len(before))
    kept, right = (_share(values.astype(float), draws, units) for values in (before == after, after == targets))
    of_classes = [np.bincount(values, minlength=max(before.max(), after.max()) + 1) for values in (before, after)]
    by_chance = float(of_classes[0] @ of_classes[1]) / len(ones) ** 2
    return [kept, right, (by_chance, None, len(ones))]


def _share(
    values: Float[np.ndarray, " example"], draws: Float[np.ndarray, "resample example"], units: Sequence[int]
) -> tuple[float, np.ndarray, int]:
    """A share with its interval and the number of examples."""
    outputs, ones = np.stack([1 - values, values], axis=-1), np.ones(len(values))
    mean = np.array([float(score("accuracy", outputs, ones))])
    bounds = intervals(["accuracy"], mean, resampled("accuracy", outputs, ones, draws)[:, None], equal_units(units))
    return float(mean[0]), bounds[0], len(values)
