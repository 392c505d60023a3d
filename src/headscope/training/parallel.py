"""Do several trainings: one after the other, or by workers here or on a cluster."""

import json
import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from headscope.cluster.channel import Json, TaskChannel, Tasks
from headscope.passes import Settings
from headscope.passes.read_parts import engine_for
from headscope.storage.hashes import Fingerprint, hash_of
from headscope.storage.run_lock import run_lock
from headscope.training.beginning import RunEnvironment
from headscope.training.run_record import RunRecord
from headscope.version import __version__

# On their versions the numbers of a training depend.
LIBRARIES = ("torch", "transformers")


class Training(Protocol):
    """A training with its folder."""

    @property
    def record(self) -> RunRecord:
        """Its folder."""
        ...

    def settings(self, environment: RunEnvironment) -> dict[str, Any]:
        """All settings that determine its numbers."""
        ...

    def prepare(self) -> None:
        """Read what all trainings share, before processes are forked."""
        ...


AnyTraining = TypeVar("AnyTraining", bound=Training)


def open_training(training: Training, environment: RunEnvironment, settings: Settings) -> None:
    """Begin or continue a training, see `RunRecord.open`; a worker of a cluster checks that the command did."""
    if settings.in_worker:
        training.record.refuse_other(training.settings(environment))
    else:
        training.record.open(training.settings(environment), settings.on_notice)


def do_trainings(
    planned: Sequence[AnyTraining],
    work: Callable[[AnyTraining, Settings], Any],
    environment: RunEnvironment,
    settings: Settings,
) -> list[Json]:
    """Do the work of all trainings that are not completed, in this process or by workers with a thread each.

    A worker of a cluster does what it is told, and never returns: `ChannelClosed` ends it.

    Returns: in a worker of a cluster, the total of all runs alone.
    """
    numbers = [number for number, run in enumerate(planned) if not run.record.completed()]
    if settings.engine is None and (settings.workers == 1 or len(numbers) < 2):
        for number in numbers:
            work(planned[number], settings)
        return []
    for run in (planned[number] for number in numbers if settings.engine is None):
        run.prepare()

    def do(number: int, channel: TaskChannel) -> None:
        run, silent = planned[number], replace(settings, on_progress=channel.progress, on_notice=lambda line: None)
        with _alone(run, settings):
            run.record.remove_unfinished()  # of a worker that died
            work(run, replace(silent, workers=1, engine=None))

    fingerprint = partial(_fingerprint, planned, environment)
    tasks = Tasks(do, numbers, "training", fingerprint, settings.on_progress)
    with closing(engine_for(settings, environment.device).values(tasks)) as values:
        return list(values)


def _alone(run: Training, settings: Settings) -> AbstractContextManager[None]:
    """Within this context no other worker of a cluster trains the run: one of a command that was killed may still."""
    if not settings.in_worker:
        return nullcontext()
    return run_lock(run.record.folder, f"a worker on '{platform.node()}'", on_no_lock=lambda line: None)


def _fingerprint(planned: Sequence[Training], environment: RunEnvironment) -> Fingerprint:
    """What the numbers of the runs depend on, beside the machine."""
    runs = json.dumps([run.settings(environment) for run in planned], sort_keys=True)
    versions: Fingerprint = {name: version(name) for name in LIBRARIES}
    return {"runs": hash_of([runs.encode()]), "headscope": __version__} | versions
