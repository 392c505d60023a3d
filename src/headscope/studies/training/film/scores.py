"""The score of a task at each step of a training."""

import numpy as np

from headscope.corpora.tasks import Task, intervals, resampled, score
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.label_order import in_model_order
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes import Settings
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units


class StepScores:
    """The scores of a task, step by step, with their intervals over examples; nothing without a task.

    * `values`: of each step, [metric]; `bounds`, [metric, bound]; NaN for a start without a head for the task.
    """

    def __init__(self, task: Task | None, settings: Settings):
        self.task, self.settings = task, settings
        self.values: list[np.ndarray] = []
        self.bounds: list[np.ndarray] = []

    @property
    def n_examples(self) -> int:
        """How many examples were scored."""
        return self.task.dev.n_examples if self.task else 0

    def add(self, model: Model) -> None:
        """Score the model of the next step.

        Raises `HeadscopeError` if it has no head for the task; the start may lack one.
        """
        if self.task is None:
            return
        network = model.network
        if network.base_model is network:
            if self.values:
                raise HeadscopeError(f"model '{model.name}' has no task head; leave out --task")
            self.settings.on_progress(self.task.dev.n_examples)
            shape = len(self.task.metrics)
            self.values.append(np.full(shape, np.nan))
            self.bounds.append(np.full((shape, 2), np.nan))
            return
        task = in_model_order(self.task, model)
        outputs, targets = task_outputs(task_inputs(model, task, task.dev), self.settings), task.targets(task.dev)
        draws = poisson_draws(task.dev.units, self.settings.seed, self.settings.resamples)
        value = np.array([float(score(metric, outputs, targets)) for metric in task.metrics])
        drawn = np.stack([resampled(metric, outputs, targets, draws) for metric in task.metrics], axis=-1)
        self.values.append(value)
        self.bounds.append(intervals(task.metrics, value, drawn, equal_units(task.dev.units)))
