"""The inputs of studies by their types: the options that each is made from, and how it is made.

The type is the annotation of a parameter as it is written in the signature. From `passes/settings.py` are the names of
types that play a part of their own, such as `Training`. A function has at most one input of a type.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headscope.front import from_options as options
from headscope.front import from_values as values
from headscope.front.from_options import FLOAT32, LOADING, READING, TASK, TREEBANK
from headscope.front.survey.step_results import step_results

Given = Mapping[str, Any]


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
    "Task": InputType(("corpus", *TASK, *READING), options.scored_task),
    "Task | None": InputType(TASK, options.task),
    "tuple[Task, ...]": InputType(TASK, options.tasks, values.tasks),
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
    "ModelName": InputType(("model",), lambda chosen, inputs: chosen["model"], lambda value, others: str(value)),
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


def from_values(inputs: Mapping[str, str], arguments: Given, tokenizer: Any) -> dict[str, Any]:
    """The inputs that are given, made from what stands for them in Python; models first, as they count pieces of texts.

    * `tokenizer`: of a model that has none of its own.

    Raises `HeadscopeError` for a value that stands for no such input.
    """
    by_type: dict[str, Any] = {kind: arguments.get(name) for name, kind in inputs.items()} | {"tokenizer": tokenizer}
    named = {name: kind for name, kind in inputs.items() if name in arguments}
    for kind in reversed(INPUT_TYPES):
        left_out = by_type.get(kind) is None and kind.endswith("| None")
        if kind in named.values() and not left_out:
            by_type[kind] = INPUT_TYPES[kind].from_value(by_type[kind], by_type)
    return {name: by_type[kind] for name, kind in named.items()}
