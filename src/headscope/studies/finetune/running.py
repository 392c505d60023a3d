"""Do the runs of a table: one after the other or by workers; bad seeds may be stopped after a third of the epochs."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from math import ceil
from typing import Any

import numpy as np

from headscope.cluster.channel import TaskChannel
from headscope.cluster.engine import Tasks
from headscope.corpora.tasks import score
from headscope.passes import Settings
from headscope.passes.read_parts import engine_for
from headscope.statistics.best_of import stopped_number
from headscope.studies.finetune.table1 import TrainingRun
from headscope.training.beginning import WITHOUT_TRAINING
from headscope.training.environment import RunEnvironment

Work = Callable[[TrainingRun, Settings], Any]


def early_epoch(epochs: int) -> int:
    """The epoch after which seeds are judged: at the end of the first third.

    >>> [early_epoch(epochs) for epochs in (2, 3, 4)]
    [1, 1, 2]
    """
    return ceil(epochs / 3)


def do_runs(
    planned: Sequence[TrainingRun], environment: RunEnvironment, settings: Settings, share: float
) -> list[TrainingRun]:
    """Do all runs that are not completed. Returns: those that were not stopped.

    * `share`: of the runs of a task and a way, stop these with the lowest scores after the first third of the epochs.
    """
    kept = list(planned)
    if share:
        epoch, silent = early_epoch(planned[0].recipe.epochs), replace(settings, on_progress=lambda done: None)
        _do(kept, lambda run, given: run.pause(environment, given, epoch), environment, silent)
        kept = [one for group in _groups(planned) for one in _best(group, epoch, share)]
    _do(kept, lambda run, given: run.result(environment, given), environment, settings)
    return kept


def _groups(planned: Sequence[TrainingRun]) -> list[list[TrainingRun]]:
    """The runs of each task and way."""
    return [list(group) for _, group in groupby(planned, lambda one: (one.row.task.name, one.init))]


def _best(group: list[TrainingRun], epoch: int, share: float) -> list[TrainingRun]:
    """The runs that go on, in their order."""
    if group[0].init == WITHOUT_TRAINING:
        return group
    task, targets = group[0].row.task, group[0].row.examples.targets
    early = np.array([float(score(task.metrics[0], one.after(epoch), targets)) for one in group])
    order = np.argsort(-early, kind="stable")[: len(group) - stopped_number(len(group), share)]
    return [group[number] for number in sorted(order.tolist())]


def _do(planned: Sequence[TrainingRun], work: Work, environment: RunEnvironment, settings: Settings) -> None:
    """Do the work of all runs, in this process or by workers with a thread each."""
    open_runs = [one for one in planned if not one.record.completed()]
    if settings.workers == 1 or len(open_runs) < 2:
        for one in open_runs:
            work(one, settings)
        return
    for one in open_runs:  # read once, before the processes are forked
        _ = one.init != WITHOUT_TRAINING and one.row.examples

    def do(number: int, channel: TaskChannel) -> None:
        work(open_runs[number], replace(settings, on_progress=channel.progress, on_notice=lambda line: None))

    tasks = Tasks(do, range(len(open_runs)), "training", dict, settings.on_progress)
    with closing(engine_for(settings, environment.device).values(tasks)) as values:
        for _ in values:
            pass
