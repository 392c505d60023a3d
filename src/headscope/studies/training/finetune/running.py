"""Do the runs of a table: one after the other, or by workers here or on a cluster.

Bad seeds may be stopped after a third of the epochs.
"""

from collections.abc import Sequence
from itertools import groupby
from math import ceil

import numpy as np

from headscope.corpora.tasks import score
from headscope.passes import Settings
from headscope.statistics.runs import stopped_number
from headscope.studies.training.finetune.table1 import TrainingRun
from headscope.training.beginning import RunEnvironment
from headscope.training.parallel import do_trainings
from headscope.training.ways import WITHOUT_TRAINING


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

    A worker of a cluster does what it is told, and never returns: `ChannelClosed` ends it.

    Raises `HeadscopeError` if a worker of a cluster has another folder for the results.
    """
    kept = list(planned)
    if share:
        epoch = early_epoch(planned[0].recipe.epochs)
        done = do_trainings(kept, lambda run, begun: run.pause(environment, begun, epoch), environment, settings.quiet)
        numbers = done[0] if settings.in_worker else _kept(planned, epoch, share)
        if settings.engine is not None:
            settings.engine.finish(lambda: numbers)
        kept = [planned[number] for number in numbers]
    do_trainings(kept, lambda run, begun: run.result(environment, begun), environment, settings)
    if settings.engine is not None:
        for one in kept:
            one.record.refuse_missing()
    return kept


def _kept(planned: Sequence[TrainingRun], epoch: int, share: float) -> list[int]:
    """The numbers of the runs that are not stopped."""
    keys = {run.key for group in _groups(planned) for run in _best(group, epoch, share)}
    return [number for number, run in enumerate(planned) if run.key in keys]


def _groups(planned: Sequence[TrainingRun]) -> list[list[TrainingRun]]:
    """The runs of each task and way."""
    return [list(group) for _, group in groupby(planned, lambda run: (run.row.task.name, run.init))]


def _best(group: list[TrainingRun], epoch: int, share: float) -> list[TrainingRun]:
    """The runs that go on, in their order."""
    if group[0].init == WITHOUT_TRAINING:
        return group
    task, targets = group[0].row.task, group[0].row.examples.targets
    early = np.array([float(score(task.metrics[0], run.after(epoch), targets)) for run in group])
    order = np.argsort(-early, kind="stable")[: len(group) - stopped_number(len(group), share)]
    return [group[number] for number in sorted(order.tolist())]
