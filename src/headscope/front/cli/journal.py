"""The journal of a run of a study: the options on which its numbers depend, beside its models and corpora."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headscope.storage.source_files import sha256_of

FOLDER = ".headscope.journal"
# They change no number, or name what has a hash of its own.
WORKERS = {"workers", "engine", "address", "gpus_per_worker"}
LEFT_OUT = {"out", "overwrite", "figures", "no_figures", "quiet", "json", "debug", "examples"} | WORKERS
HASHED = {"model", "models", "corpus", "corpora"}


def journal_of(study: str, given: Mapping[str, Any], ready: Mapping[str, Any], on_notice: Callable[[str], None]) -> Any:
    """The journal in the folder of the result.

    * `given`: the options; `ready`: the inputs that were made from them; `on_notice`: see `PassJournal`.
    """
    from headscope.passes.fingerprint import of_model
    from headscope.passes.pass_journal import PassJournal

    options = {name: _text(value) for name, value in given.items() if name not in LEFT_OUT | HASHED}
    models = {f"model {number}": of_model(model) for number, model in enumerate(ready.get("models", ()), 1)}
    return PassJournal(given["out"] / FOLDER, {"study": study} | options | models, on_notice)


def _text(value: Any) -> str:
    """A value as text; of a file the hash of its bytes."""
    if isinstance(value, Path) and value.is_file():
        return sha256_of([value])
    return str(value)
