"""Do the runs of a table: one after the other, or by workers here or on a cluster.

Bad seeds may be stopped after a third of the epochs.
"""

import json
import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import groupby
from math import ceil
from typing import Any

import numpy as np

from headscope.cluster.channel import Json, TaskChannel, Tasks
from headscope.corpora.tasks import score
from headscope.passes import Settings
from headscope.passes.read_parts import engine_for
from headscope.statistics.runs import stopped_number
from headscope.storage.hashes import Fingerprint, hash_of
from headscope.storage.run_lock import run_lock
from headscope.studies.training.finetune.table1 import TrainingRun
from headscope.training.beginning import RunEnvironment
from headscope.training.ways import WITHOUT_TRAINING
from headscope.version import __version__

# On their versions the numbers of a training depend.
LIBRARIES = ("torch", "transformers")
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

    A worker of a cluster does what it is told, and never returns: `ChannelClosed` ends it.

    Raises `HeadscopeError` if a worker of a cluster has another folder for the results.
    """
    kept = list(planned)
    if share:
        epoch = early_epoch(planned[0].recipe.epochs)
        done = _do(kept, lambda run, begun: run.pause(environment, begun, epoch), environment, settings.quiet)
        numbers = done[0] if settings.in_worker else _kept(planned, epoch, share)
        if settings.engine is not None:
            settings.engine.finish(lambda: numbers)
        kept = [planned[number] for number in numbers]
    _do(kept, lambda run, begun: run.result(environment, begun), environment, settings)
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


def _do(planned: Sequence[TrainingRun], work: Work, environment: RunEnvironment, settings: Settings) -> list[Json]:
    """Do the work of all runs, in this process or by workers with a thread each.

    Returns: in a worker of a cluster, the total of all runs alone.
    """
    numbers = [number for number, run in enumerate(planned) if not run.record.completed()]
    if settings.engine is None and (settings.workers == 1 or len(numbers) < 2):
        for number in numbers:
            work(planned[number], settings)
        return []
    for run in (planned[number] for number in numbers if settings.engine is None):
        _ = run.init != WITHOUT_TRAINING and run.row.examples  # read once, before the processes are forked

    def do(number: int, channel: TaskChannel) -> None:
        run, silent = planned[number], replace(settings, on_progress=channel.progress, on_notice=lambda line: None)
        with _alone(run, settings):
            run.record.remove_unfinished()  # of a worker that died
            work(run, replace(silent, workers=1, engine=None))

    fingerprint = partial(_fingerprint, planned, environment)
    tasks = Tasks(do, numbers, "training", fingerprint, settings.on_progress)
    with closing(engine_for(settings, environment.device).values(tasks)) as values:
        return list(values)


def _alone(run: TrainingRun, settings: Settings) -> AbstractContextManager[None]:
    """Within this context no other worker of a cluster trains the run: one of a command that was killed may still."""
    if not settings.in_worker:
        return nullcontext()
    return run_lock(run.record.folder, f"a worker on '{platform.node()}'", on_no_lock=lambda line: None)


def _fingerprint(planned: Sequence[TrainingRun], environment: RunEnvironment) -> Fingerprint:
    """What the numbers of the runs depend on, beside the machine."""
    runs = json.dumps([run.settings(environment) for run in planned], sort_keys=True)
    versions: Fingerprint = {name: version(name) for name in LIBRARIES}
    return {"runs": hash_of([runs.encode()]), "headscope": __version__} | versions
