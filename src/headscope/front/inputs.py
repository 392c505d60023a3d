"""The inputs of studies by their types: the options that each is made from, how it is made, and its hash.

The type is the annotation of a parameter as it is written in the signature. From `passes/settings.py` are the names of
types that play a part of their own, such as `Training`. A function has at most one input of a type.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headscope.front import from_options as options
from headscope.front import from_values as values
from headscope.front.from_options import FLOAT32, LOADING, READING, TASK, TREEBANK
from headscope.front.survey.step_results import step_results
from headscope.storage.hashes import CHARACTERS, Fingerprint, source_files
from headscope.version import __version__

Given = Mapping[str, Any]
# They change no number, or name what has a hash of its own.
WORKERS = {"workers", "engine", "address", "gpus_per_worker"}
LEFT_OUT = {"brief", "out", "overwrite", "figures", "no_figures", "quiet", "json", "debug", "examples"} | WORKERS
MODELS = ("model", "models", "tokenizer_of")
HASHED = {"model", "models", "corpus", "corpora"}
ATTRIBUTE = "made_from"
# Of a folder that a study or `save_pretrained` wrote: its numbers, not its pages.
NUMBERS = ("result.nc", "config.json", "*.safetensors")


@dataclass(frozen=True)
class InputType:
    """A type of input.

    * `options`: the shared options of the command line that it is made from.
    * `from_options`: makes it from the values of options, and from the inputs that were made before, by type.
    * `from_value`: makes it from what a Python function is called with, and from all inputs of the call, by type.
    """

    options: tuple[str, ...]
    from_options: Callable[[Given, Given], Any]
    from_value: Callable[[Any, Given], Any] = lambda value, others: value


DIRECTORY = InputType(("out",), options.directory, values.directory)

# Whatever is wrong with the folder, the texts or the model is said in this order, before anything is computed.
INPUT_TYPES = {
    "Directory": DIRECTORY,
    "Directory | None": DIRECTORY,
    "Task": InputType(("corpus", *TASK, *READING), options.scored_task, values.task),
    "Task | None": InputType(TASK, options.task, values.task),
    "tuple[Task, ...]": InputType(TASK, options.tasks, values.several_tasks),
    "Corpus": InputType(("corpus", *READING, "long"), options.corpus, values.corpus),
    "Documents": InputType(("corpus", *READING, "long"), options.documents, values.corpus),
    "OwnTexts": InputType(("corpus", *READING, "long"), options.own_texts, values.corpus),
    "ComparedCorpus": InputType(("other", *READING, "long"), options.corpus, values.corpus),
    "tuple[Corpus, ...]": InputType(("corpora", *READING, "data", "long"), options.corpora, values.corpora),
    "tuple[Treebank, ...]": InputType(("corpora", *TREEBANK, "long"), options.treebanks, values.corpora),
    "tuple[Training, ...] | None": InputType(
        ("trainings", "training_limit", *TREEBANK, "long"), options.trainings, values.corpora
    ),
    "tuple[str | Path | Suite, ...]": InputType(("suites",), options.suites),
    "Training | None": InputType(("training", "training_limit", *READING, "long"), options.training, values.corpus),
    "Model": InputType(("model", "examples", *LOADING), options.model, values.model),
    "WordsModel": InputType(("model", *LOADING), options.words_model, values.words_model),
    "tuple[Model, ...]": InputType(("models", "examples", *LOADING), options.models, values.models),
    "ModelName": InputType(("model",), lambda chosen, inputs: chosen["model"], values.model_name),
    "TokenizerName": InputType(("tokenizer_of",), lambda chosen, inputs: chosen["tokenizer_of"], values.model_name),
    "Steps": InputType(("steps",), lambda chosen, inputs: tuple(chosen["steps"]), values.steps),
    "Loading": InputType(FLOAT32, lambda chosen, inputs: {name: chosen[name] for name in FLOAT32}),
    "StepLoading": InputType(LOADING, lambda chosen, inputs: {name: chosen[name] for name in LOADING}),
    "StudyResults | None": InputType(
        ("studies",), lambda chosen, inputs: step_results(chosen["studies"]), lambda value, others: step_results(value)
    ),
    "Measures": InputType(("measures",), options.measures, values.measures),
    "Settings": InputType(("seed", "batch_tokens", "workers", "resamples"), options.settings),
}

MODEL_TYPES = {kind for kind, input_type in INPUT_TYPES.items() if {"model", "models", "steps"} & {*input_type.options}}


def options_of(inputs: Mapping[str, str]) -> set[str]:
    """The shared options that the inputs are made from; `inputs` has the type of each."""
    return {option for kind in inputs.values() for option in INPUT_TYPES[kind].options}


def from_options(inputs: Mapping[str, str], chosen: Given) -> dict[str, Any]:
    """The inputs, made from the values of options.

    Raises `HeadscopeError` for the first of them that cannot be made.
    """
    by_type: dict[str, Any] = {}
    for kind, input_type in INPUT_TYPES.items():
        if kind in inputs.values():
            by_type[kind] = input_type.from_options(chosen, by_type)
    return {name: by_type[kind] for name, kind in inputs.items()}


def from_values(
    inputs: Mapping[str, str], arguments: Given, tokenizer: Any = None, labels: Any = None
) -> dict[str, Any]:
    """The inputs that are given, made from what stands for them in Python; models first, as they count pieces of texts.

    * `tokenizer`: of a model that has none of its own; `labels`: of texts that stand for a task.

    Raises `HeadscopeError` for a value that stands for no such input.
    """
    by_type: dict[str, Any] = {kind: arguments.get(name) for name, kind in inputs.items()}
    by_type |= {"tokenizer": tokenizer, "labels": labels}
    named = {name: kind for name, kind in inputs.items() if name in arguments}
    for kind in reversed(INPUT_TYPES):
        left_out = by_type.get(kind) is None and kind.endswith("| None")
        if kind in named.values() and not left_out:
            by_type[kind] = INPUT_TYPES[kind].from_value(by_type[kind], by_type)
    return {name: by_type[kind] for name, kind in named.items()}


def made_from(values: Mapping[str, Any], inputs: Mapping[str, Any]) -> Fingerprint:
    """The version, and the hash of each model, corpus, file and folder that a command with these options reads."""
    options = {name: value for name, value in values.items() if name not in LEFT_OUT | HASHED}
    hashes = {name: _joint(_of_texts(value)) for name, value in inputs.items()}
    hashes |= {name: _joint(_of_models(_listed(values.get(name)), values)) for name in MODELS}
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
        path = Path(os.path.expanduser(value)) if value and isinstance(value, str | Path) else None
        if path and os.path.isfile(path):
            yield source_files([path]).sha256
        elif path and os.path.isdir(path):
            yield source_files(sorted({file for name in NUMBERS for file in path.rglob(name)})).sha256
