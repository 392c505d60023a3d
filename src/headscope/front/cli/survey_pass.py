"""The passes that studies of a survey share, before each study runs by itself; see `passes.shared_pass`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.cli.compute import FOLDER, checks_of, engine_of, function_of, journal_of, ready_inputs, shown
from headscope.front.cli.errors import notice
from headscope.front.from_options import models_kept
from headscope.front.progress import progress_bar
from headscope.front.survey.costs import SHARING
from headscope.storage.files import remove

if TYPE_CHECKING:
    from headscope.passes.shared_pass import AskedPass

ENTRY = f"{__name__}:work"


def read_shared(commands: Mapping[str, Sequence[str]], folder: Path, *, quiet: bool) -> None:
    """Read once for all studies that can share a pass, so that each has a checkpoint from which its command goes on.

    * `commands`: the words of the command of each study that is to run; `folder`: that of the survey.
    """
    sharing = [study for study in commands if study in SHARING]
    if len(sharing) < 2:
        return
    from headscope.passes.pass_journal import PassJournal
    from headscope.passes.settings import Settings
    from headscope.passes.shared_pass import alike, read_together

    passes = dict(_first_passes(sharing, commands))
    studies = {id(asked): study for study, asked in passes.items()}
    for number, group in enumerate(alike(passes.values()), 1):
        joined = [studies[id(asked)] for asked in group]
        together = ", ".join(map(catalog.command_name, joined))
        if not quiet:
            notice(f"one pass for {together}")
        journal = PassJournal(folder / FOLDER / str(number), {"studies": together} | _runs(group), silent=quiet)
        examples = group[0].reader.corpus.n_examples
        with (
            _engine({study: list(commands[study]) for study in joined}) as engine,
            progress_bar("survey", examples, show=shown(quiet)) as (progress, _),
        ):
            run = Settings(journal=journal, engine=engine, on_progress=progress, on_notice=_say(quiet))
            read_together(group, run)
        journal.remove()
    remove(folder / FOLDER)


def work(job: bytes, engine: Any) -> None:
    """Read for a shared pass in a worker, and write nothing.

    * `job`: the commands of the studies, and the checks of their corpora; `engine`: that of the worker.
    """
    from headscope.passes.settings import Settings
    from headscope.passes.shared_pass import read_together

    task = json.loads(job)
    with checks_of(task) as scratch, models_kept():
        asked = [
            _first_pass_of(study, words, out=scratch / study, kept=scratch, engine=None)
            for study, words in task["commands"].items()
        ]
        read_together([one for one in asked if one], Settings(engine=engine))


def _engine(commands: Mapping[str, list[str]]) -> AbstractContextManager[Any]:
    """The engine that the options of the commands name, for all of them."""
    from headscope.front.cli.study import parsed

    given = [parsed(study, words)[1] for study, words in commands.items()]
    return engine_of(given[0], ENTRY, {"commands": commands}, [one["out"] / FOLDER for one in given])


def _first_passes(sharing: Sequence[str], commands: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, "AskedPass"]]:
    """The pass that each study asks for; one that refuses the model or the data says so when it runs."""
    for study in sharing:
        with suppress(HeadscopeError):
            if asked := _first_pass_of(study, list(commands[study])):
                yield study, asked


def _first_pass_of(study: str, words: list[str], **changed: Any) -> "AskedPass | None":
    """The pass that a command asks for, with some of its options changed."""
    from headscope.front.cli.study import parsed
    from headscope.passes.shared_pass import first_pass

    given = parsed(study, words)[1] | {"brief": True} | changed
    (function, _), ready = function_of(study), ready_inputs(study, given)
    inputs = {**ready, **{name: given[name] for name in function.options}}
    corpora = ready["corpora"] if "corpora" in ready else [ready["corpus"]]
    settings = replace(ready["settings"], keep_interrupted=True, journal=journal_of(study, given, ready))
    run = function.load()
    return first_pass(lambda chosen: run(**inputs | {"settings": chosen}), settings, corpora)


def _runs(group: Sequence["AskedPass"]) -> dict[str, str]:
    """What the numbers of each study depend on."""
    return {str(asked.journal.run["study"]): repr(sorted(asked.journal.run.items())) for asked in group}


def _say(quiet: bool) -> Any:
    return (lambda line: None) if quiet else notice
