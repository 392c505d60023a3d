"""The computing part of a study's command: inputs from options, the journal of the run, the result.

On a Ray cluster each worker makes the inputs of the study itself, from the same options.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headscope import catalog
from headscope.errors import HeadscopeError
from headscope.front.cli.errors import notice
from headscope.front.from_options import reads_standard_input
from headscope.front.inputs import HASHED, LEFT_OUT, from_options
from headscope.front.progress import (
    Clock,
    Lines,
    OnProgress,
    above_bars,
    interactive,
    loading,
    n_inputs,
    progress_bar,
    timed,
)
from headscope.front.signatures import Function, read
from headscope.front.time_needed import TimeNeeded
from headscope.storage.files import remove
from headscope.storage.kept_inputs import kept

ENTRY = f"{__name__}:work"
FOLDER = ".headscope.journal"


@contextmanager
def engine_of(values: Mapping[str, Any], entry: str, task: Mapping[str, Any], kept: Iterable[Path]) -> Iterator[Any]:
    """Within this context the engine that `--engine` names; None for the one of this machine.

    * `entry`: the function that a worker calls with `task`; `kept`: the folders of the checks of corpora, which workers
      need not make again.

    Raises `HeadscopeError` if there is no such cluster.
    """
    if values.get("engine") != "ray":
        yield None
        return
    from headscope.cluster.on_ray import RayEngine
    from headscope.corpora.kept_check import copies

    checks = {name: check for folder in kept for name, check in copies(folder).items()}
    job = json.dumps({**task, "checks": checks}, default=_path).encode()
    options = {"workers": values["workers"], "address": values["address"], "gpus": values["gpus_per_worker"]}
    engine = RayEngine(entry, job, **options)
    try:
        yield engine
    finally:
        engine.close()


def refuse_standard_input(values: Mapping[str, Any]) -> None:
    """Raise `HeadscopeError` for a corpus that workers on other machines could not read."""
    if values.get("engine") == "ray" and reads_standard_input(values):
        raise HeadscopeError("corpus '-': workers cannot read standard input; name a file that all machines have")


def work(job: bytes, engine: Any) -> None:
    """Run a study in a worker: it reads its tasks, and writes into a shared folder alone."""
    from headscope.passes.kept_arrays import read_arrays
    from headscope.passes.shared_pass import arguments_of

    task = json.loads(job, object_hook=lambda value: Path(value["path"]) if value.keys() == {"path"} else value)
    study, values = task["study"], task["given"]
    function, module = read(study, "study", "run"), catalog.load("studies", study)
    with checks_of(task) as scratch:
        out = values["out"] if catalog.study(study).shared_folder else scratch
        values |= {"out": out, "kept": scratch, "engine": None}
        ready = from_options(function.inputs, values)
        if scratch not in ready.values():
            remove(scratch)  # now, since a worker may be killed; no study writes there
        ready["settings"] = replace(ready["settings"], engine=engine)
        arguments = {**ready, **{name: values[name] for name in function.options}}
        if hasattr(module, "passes"):
            read_arrays(module.passes(**arguments_of(module.passes, function.load(), arguments)))
        else:
            function.load()(**arguments)


@contextmanager
def checks_of(task: Mapping[str, Any]) -> Iterator[Path]:
    """A folder, removed after this context, with the checks of corpora that a worker was sent."""
    with TemporaryDirectory(prefix="headscope-") as scratch:
        for name, check in task["checks"].items():
            (Path(scratch) / name).write_text(check, encoding="utf-8")
        yield Path(scratch)


def _path(value: Any) -> Any:
    if isinstance(value, Path):
        return {"path": str(value)}
    raise TypeError(f"an option of type {type(value).__name__}")


@dataclass(frozen=True)
class Computed:
    """The result of a study, the inputs that it was made from, and its journal."""

    result: Any
    inputs: dict[str, Any]
    journal: Any


def compute(study: str, values: dict[str, Any], clock: Clock) -> Computed:
    """Make the inputs of a study, and run it."""
    (function, _), quiet = function_of(study), values["quiet"]
    catalog.require_for(study, values)
    with loading("reading", quiet=quiet):
        ready = ready_inputs(study, values)
    clock.stop("loading")
    with progress_bar(study, n_inputs(ready), show=shown(quiet)) as (progress, expect):
        say = _silent if quiet else _above_bars
        for model in (ready.get("model"), *ready.get("models", ())):
            for line in getattr(model, "notes", ()):
                say(line)
        needed = TimeNeeded(catalog.command_name(study), n_inputs(ready), limited="limit" in values, say=say)
        journal = journal_of(study, values, ready)
        run = {"on_progress": _all(progress, needed.advance), "on_total": _all(expect, needed.expect)}
        run |= {"on_notice": _all(needed.measure_anew, say), "keep_interrupted": True, "journal": journal}
        options = {name: values[name] for name in function.options}

        task = {"study": study, "given": dict(values)}
        with engine_of(values, ENTRY, task, [values["out"] / FOLDER]) as engine:
            settings = replace(ready["settings"], **run, engine=engine)
            result = timed(function.load(), **ready | {"settings": settings}, **options)
    return Computed(result, ready, journal)


def ready_inputs(study: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a study, made from the values of options."""
    function, inputs = function_of(study)
    ready = from_options(inputs, {"kept": values["out"] / FOLDER, **values})
    if "directory" not in function.inputs:
        ready.pop("directory")
    return ready


def _silent(line: str) -> None:
    """Say nothing."""


def _above_bars(line: str) -> None:
    with above_bars():
        notice(line)


def _all(*functions: Callable[[Any], None]) -> Callable[[Any], None]:
    """A function that calls several."""

    def call(value: Any) -> None:
        for function in functions:
            function(value)

    return call


def shown(quiet: bool) -> bool | OnProgress:
    """How a command shows progress: as bars in a terminal, else as a line now and then."""
    return not quiet and (interactive() or Lines(notice))


def function_of(study: str) -> tuple[Function, dict[str, str]]:
    """The function of a study and its inputs, with a folder for the result."""
    function = read(study, "study", "run")
    return function, {"directory": "Directory"} | dict(function.inputs)


def journal_of(study: str, values: Mapping[str, Any], ready: Mapping[str, Any]) -> Any:
    """The journal in the folder of the result, with the options and models on which its numbers depend."""
    from headscope.passes.provenance import of_model
    from headscope.passes.settings import PassJournal

    options = {name: _text(value) for name, value in values.items() if name not in LEFT_OUT | HASHED}
    models = {f"model {number}": of_model(model) for number, model in enumerate(ready.get("models", ()), 1)}
    folder, run = values["out"] / FOLDER, {"study": study} | options | models
    read = kept(("passes read", folder), dict[int, Any])
    return PassJournal(folder, run, silent=values.get("brief", False), read=read)


def _text(value: Any) -> str:
    """A value as text; of a file also its size and its time of change: its bytes are for the study alone to read."""
    if isinstance(value, Path) and value.is_file():
        state = value.stat()
        return f"{value} ({state.st_size} bytes, changed at {state.st_mtime_ns})"
    return str(value)
