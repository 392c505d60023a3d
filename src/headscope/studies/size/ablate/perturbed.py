"""Changed examples: predictions that stay, and words that flip them; and the accuracy on each case of the shortcuts.

A score may stay where predictions do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from headscope.corpora.tasks import Task, intervals, resampled, score
from headscope.corpora.tasks.perturbations import PERTURBATIONS, perturbed
from headscope.corpora.tasks.shortcuts import ShortcutPair
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import Settings
from headscope.ranges import Range
from headscope.results.variables import Count, Variables
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units
from headscope.studies.size.ablate import STUDY
from headscope.studies.size.ablate.triggers import by_triggers

NAMES = ("prediction_kept", "perturbed_score", "kept_by_chance")


@dataclass(frozen=True, kw_only=True)
class ChangedTexts:
    """Changed examples that are scored beside those of the task.

    * `perturbations`: Also count predictions of classes that stay when examples are changed: words shuffled, "not"
      added, a sentence of the pair emptied, subject or object removed (where the corpus has trees).
    * `triggers`: Also search this many words that flip the answers of a class when they stand before a text (of a pair
      before the second one), by gradients on one half of the examples, and judge them on the other; 0: none.
    """

    perturbations: bool = True
    triggers: Annotated[int, Range(0, 10)] = 0

    def refuse_other(self, task: Task) -> None:
        """Raise `HeadscopeError` for triggers of a task without classes."""
        if self.triggers and task.kind != "classification":
            raise HeadscopeError(f"--triggers flips classes, and task '{task.name}' has none; leave it out")

    def variables(
        self, model: Model, task: Task, outputs: Float[np.ndarray, "example output"], settings: Settings
    ) -> dict[str, xr.DataArray]:
        """What is asked for; nothing for a task without classes. `outputs`: those of the unchanged dev examples."""
        if task.kind != "classification":
            return {}
        kept = by_perturbation(model, task, outputs, settings) if self.perturbations else {}
        return kept | (by_triggers(model, task, outputs, self.triggers, settings) if self.triggers else {})


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
            answers = task_outputs(task_inputs(model, task, changed), settings.quiet).argmax(-1)
            units = [task.dev.units[number] for number in numbers]
            rows[name] = _row(outputs[numbers].argmax(-1), answers, targets[numbers], units, settings)
    if not rows:
        return {}
    variables = Variables({"perturbation": list(rows)}, STUDY.source, STUDY.labels)
    for index, variable in enumerate(NAMES):
        values, bounds, counts = zip(*(row[index] for row in rows.values()), strict=True)
        interval = None if bounds[0] is None else np.array(bounds)
        count = Count(counts, f"examples of {variable}", "examples", ("perturbation",))
        variables.add(variable, values, interval=interval, count=count)
    return variables.arrays


def by_case(
    outputs: Float[np.ndarray, "pair 2"], pairs: Sequence[ShortcutPair], settings: Settings
) -> dict[str, xr.DataArray]:
    """The accuracy with all heads on each case of the shortcuts, with its interval over pairs.

    * `outputs`: of the wrong answer and of the right one.
    """
    named = np.array([f"{pair.phenomenon}: {pair.case}" for pair in pairs])
    cases, right = list(dict.fromkeys(named.tolist())), outputs.argmax(-1).astype(float)
    numbers = [np.flatnonzero(named == case) for case in cases]
    values, bounds, counts = zip(*(_share(right[rows], rows.tolist(), settings) for rows in numbers), strict=True)
    variables = Variables({"case": cases}, STUDY.source, STUDY.labels)
    count = Count(counts, "pairs of each case", "pairs", ("case",))
    variables.add("case_score", values, interval=np.array(bounds), count=count)
    return variables.arrays


def _row(
    before: Int[np.ndarray, " example"],
    after: Int[np.ndarray, " example"],
    targets: Float[np.ndarray, " example"],
    units: Sequence[int],
    settings: Settings,
) -> list[tuple[float, np.ndarray | None, int]]:
    """The shares of predictions that stay and that are right, and of those that would stay by chance: no interval."""
    kept, right = (_share(values.astype(float), units, settings) for values in (before == after, after == targets))
    counts = [np.bincount(values, minlength=max(before.max(), after.max()) + 1) for values in (before, after)]
    by_chance = float(counts[0] @ counts[1]) / len(before) ** 2
    return [kept, right, (by_chance, None, len(before))]


def _share(
    values: Float[np.ndarray, " example"], units: Sequence[int], settings: Settings
) -> tuple[float, np.ndarray, int]:
    """A share with its interval and the number of examples."""
    draws = poisson_draws(units, settings.seed, settings.resamples)
    outputs, ones = np.stack([1 - values, values], axis=-1), np.ones(len(values))
    mean = np.array([float(score("accuracy", outputs, ones))])
    bounds = intervals(["accuracy"], mean, resampled("accuracy", outputs, ones, draws)[:, None], equal_units(units))
    return float(mean[0]), bounds[0], len(values)
