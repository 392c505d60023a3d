"""What a result was made from: hashes of models, texts and files, by which it is kept or made anew."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headscope.front.cli.compute import HASHED, LEFT_OUT
from headscope.storage.hashes import CHARACTERS, Fingerprint, source_files
from headscope.version import __version__

ATTRIBUTE = "made_from"
# Of a folder that a study or `save_pretrained` wrote: its numbers, not its pages.
NUMBERS = ("result.nc", "config.json", "*.safetensors")


def made_from(values: Mapping[str, Any], inputs: Mapping[str, Any]) -> Fingerprint:
    """The version, and the hash of each model, corpus, file and folder that a command reads.

    * `values`: the values of its options; `inputs`: what was made of them.
    """
    options = {name: value for name, value in values.items() if name not in LEFT_OUT | HASHED}
    hashes = {name: _joint(_of_texts(value)) for name, value in inputs.items()}
    hashes |= {name: _joint(_of_models(_listed(values.get(name)), values)) for name in ("model", "models")}
    hashes |= {name: _joint(_of_paths(_listed(value))) for name, value in options.items() if not hashes.get(name)}
    release: Fingerprint = {"headscope": __version__}
    return release | {name: digest for name, digest in hashes.items() if digest}


def _joint(hashes: Iterable[str]) -> str:
    return " ".join(digest[:CHARACTERS] for digest in hashes)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _of_texts(value: Any) -> Iterator[str]:
    """The hashes of corpora, suites and tasks."""
    from headscope.corpora import Corpus
    from headscope.corpora.suites.suite import Suite
    from headscope.corpora.tasks import Task

    for part in _listed(value):
        if isinstance(part, Corpus | Suite):
            yield part.sha256
        elif isinstance(part, Task):
            yield from _of_texts((part.dev, part.train))


def _of_models(names: Iterable[str | None], values: Mapping[str, Any]) -> Iterator[str]:
    from headscope.models.checkpoint import locate

    for name in filter(None, names):
        options = {option: values.get(option) for option in ("revision", "remote_code", "tokenizer")}
        checkpoint = locate(name, **options)  # type: ignore[arg-type]
        yield from (checkpoint.weights().sha256, checkpoint.settings().sha256)


def _of_paths(values: Iterable[Any]) -> Iterator[str]:
    """The hashes of the values that are files, or folders with numbers."""
    for value in values:
        path = Path(os.path.expanduser(value)) if isinstance(value, str | Path) else None
        if path and os.path.isfile(path):
            yield source_files([path]).sha256
        elif path and os.path.isdir(path):
            yield source_files(sorted({file for name in NUMBERS for file in path.rglob(name)})).sha256
