"""The passes that studies of a survey share, before each study runs by itself; see `passes.shared_pass`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.cli.compute import FOLDER, checks_of, engine_of, function_of, journal_of, ready_inputs, shown
from headscope.front.cli.errors import notice
from headscope.front.progress import progress_bar
from headscope.front.survey.plan import shares
from headscope.storage.files import remove
from headscope.storage.kept_inputs import inputs_kept

if TYPE_CHECKING:
    from headscope.passes.planned_pass import PlannedPass
    from headscope.passes.settings import Settings

ENTRY = f"{__name__}:work"


def read_shared(commands: Mapping[str, Sequence[str]], folder: Path, *, quiet: bool) -> None:
    """Read once for all studies that can share a pass, so that each has a checkpoint from which its command goes on."""
    sharing = [study for study in commands if shares(study)]
    if len(sharing) < 2:
        return
    from headscope.passes import shared_pass
    from headscope.passes.settings import PassJournal, Settings

    numbers = count(1)

    @contextmanager
    def settings_of(group: "Mapping[str, PlannedPass[Any]]", number: int) -> "Iterator[Settings]":
        together = ", ".join(map(catalog.command_name, group))
        if not quiet:
            notice(f"one pass{' over random weights' * bool(number)} for {together}")
        journal = PassJournal(folder / FOLDER / str(next(numbers)), {"studies": together} | _runs(group), silent=quiet)
        examples = next(iter(group.values())).corpus.n_examples
        with (
            _engine({study: list(commands[study]) for study in group}, number) as engine,
            progress_bar("survey", examples, show=shown(quiet)) as (progress, _),
        ):
            say = (lambda line: None) if quiet else notice
            yield Settings(journal=journal, engine=engine, on_progress=progress, on_notice=say)
        journal.remove()

    arguments: dict[str, Mapping[str, Any]] = {}
    for study in sharing:
        with suppress(HeadscopeError):  # it says so when it runs
            arguments[study] = _arguments(study, commands[study])
    shared_pass.read_shared(arguments, settings_of)
    remove(folder / FOLDER)


def work(job: bytes, engine: Any) -> None:
    """Read for a shared pass in a worker, and write nothing."""
    from headscope.passes.settings import Settings
    from headscope.passes.shared_pass import passes_of, read_together

    task = json.loads(job)
    with checks_of(task) as scratch, inputs_kept():
        arguments = {
            study: _arguments(study, words, out=scratch / study, kept=scratch, engine=None)
            for study, words in task["commands"].items()
        }
        passes = list(passes_of(arguments, task["number"]).values())
    read_together(passes, Settings(engine=engine))


def _engine(commands: Mapping[str, list[str]], number: int) -> AbstractContextManager[Any]:
    """The engine that the options of the commands name, for the pass of all of them with this number."""
    from headscope.front.cli.study import parsed

    several = [parsed(study, words)[1] for study, words in commands.items()]
    task, folders = {"commands": commands, "number": number}, [options["out"] / FOLDER for options in several]
    return engine_of(several[0], ENTRY, task, folders)


def _arguments(study: str, words: Sequence[str], **changed: Any) -> dict[str, Any]:
    """The arguments that a command gives to `run` of its study, with some of its options changed."""
    from headscope.front.cli.study import parsed

    values = parsed(study, list(words))[1] | {"brief": True} | changed
    (function, _), ready = function_of(study), ready_inputs(study, values)
    settings = replace(ready["settings"], keep_interrupted=True, journal=journal_of(study, values, ready))
    return {**ready, **{name: values[name] for name in function.options}, "settings": settings}


def _runs(group: "Mapping[str, PlannedPass[Any]]") -> dict[str, str]:
    """What the numbers of each study depend on."""
    journals = [planned.settings.journal for planned in group.values()]
    return {str(journal.run["study"]): repr(sorted(journal.run.items())) for journal in journals if journal}
