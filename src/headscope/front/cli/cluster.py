"""A study on a Ray cluster: each worker makes the inputs of the study itself, from the same options."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from headscope.errors import HeadscopeError
from headscope.front.from_options import reads_standard_input
from headscope.front.inputs import from_options
from headscope.front.signatures import read

ENTRY = f"{__name__}:work"


@contextmanager
def engine_of(study: str, given: Mapping[str, Any], kept: Path) -> Iterator[Any]:
    """Within this context the engine that `--engine` names; None for the one of this machine.

    * `kept`: the folder of the checks of corpora, which workers need not make again.

    Raises `HeadscopeError` if there is no such cluster.
    """
    if given.get("engine") != "ray":
        yield None
        return
    from headscope.cluster.on_ray import RayEngine
    from headscope.corpora.kept_check import copies

    job = json.dumps({"study": study, "given": dict(given), "checks": copies(kept)}, default=_path).encode()
    options = {"workers": given["workers"], "address": given["address"], "gpus": given["gpus_per_worker"]}
    engine = RayEngine(ENTRY, job, **options)
    try:
        yield engine
    finally:
        engine.close()


def refuse_standard_input(given: Mapping[str, Any]) -> None:
    """Raise `HeadscopeError` for a corpus that workers on other machines could not read."""
    if given.get("engine") == "ray" and reads_standard_input(given):
        raise HeadscopeError("corpus '-': workers cannot read standard input; name a file that all machines have")


def work(job: bytes, engine: Any) -> None:
    """Run a study in a worker: it reads what it is told to, and writes nothing.

    * `job`: the name of the study, its options, and the checks of its corpora; `engine`: that of the worker.
    """
    task = json.loads(job, object_hook=lambda value: Path(value["path"]) if value.keys() == {"path"} else value)
    study, given = task["study"], task["given"]
    function = read(study, "study", "run")
    with TemporaryDirectory(prefix="headscope-") as scratch:
        given |= {"out": Path(scratch), "kept": Path(scratch), "engine": None}
        for name, check in task["checks"].items():
            (given["kept"] / name).write_text(check, encoding="utf-8")
        ready = from_options(function.inputs, given)
        ready["settings"] = replace(ready["settings"], engine=engine)
        function.load()(**ready, **{name: given[name] for name in function.options})


def _path(value: Any) -> Any:
    if isinstance(value, Path):
        return {"path": str(value)}
    raise TypeError(f"an option of type {type(value).__name__}")
