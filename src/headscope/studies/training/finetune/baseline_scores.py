"""Scores of the simple models of a task, and how much better a trained model is on the same examples."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headscope.corpora.tasks import Task, intervals, scored
from headscope.statistics.intervals import equal_units, interval, of_differences

BaselineOutputs = Mapping[str, Float[np.ndarray, "example output"]]


@dataclass(frozen=True)
class BaselineScore:
    """The score of a simple model, its values in the resamples, and the number of examples."""

    value: Float[np.ndarray, " metric"]
    resamples: Float[np.ndarray, "resample metric"]
    count: int

    def cells(self, task: Task) -> dict[str, np.ndarray]:
        """The score with its interval, by the names of variables."""
        bounds = intervals(task.metrics, self.value, self.resamples, equal_units(task.dev.units))
        counts = np.full(len(self.value), self.count)
        return {"baseline_score": self.value, "baseline_score_ci": bounds, "baseline_score_n_examples": counts}


def baseline_scores(
    task: Task, outputs: BaselineOutputs, targets: np.ndarray, draws: Float[np.ndarray, "resample example"]
) -> dict[str, BaselineScore]:
    """The scores of the simple models in the metrics of a task; `draws` are those of the trained models."""
    return {
        name: BaselineScore(*scored(task.metrics, made, targets, draws), len(targets)) for name, made in outputs.items()
    }


def gains(
    task: Task,
    value: Float[np.ndarray, " metric"],
    resamples: Float[np.ndarray, "resample metric"],
    baseline: BaselineScore,
) -> dict[str, np.ndarray]:
    """A score minus that of a simple model, with the interval over resamples that both share."""
    units = equal_units(task.dev.units)
    bounds = of_differences(interval(resamples - baseline.resamples, units), units)
    counts = np.full(len(value), baseline.count)
    return {"baseline_gain": value - baseline.value, "baseline_gain_ci": bounds, "baseline_gain_n_examples": counts}
