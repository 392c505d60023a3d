"""Inputs of a study from what a Python function is called with: names, paths, and objects of other libraries."""

import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.front.from_options import scores_task, task_of

Others = Mapping[str, Any]

ALLOWED = "use a name, a folder, a Hugging Face model with tokenizer=, a pipeline, or a SentenceTransformer"


def as_model(value: Any, tokenizer: Any = None, *, head: bool | None = False) -> Any:
    """The model that a name, a folder or an object of another library stands for.

    A model of peft is merged, in a copy.

    * `tokenizer`: of a model that is an object: an object itself, or the folder or name that it is loaded from.
    * `head`: keep the task head of a model that is loaded; None keeps a head for words, if there is one.

    Raises `HeadscopeError` for an object that stands for no model.
    """
    from headscope.models import Model, load, wrap
    from headscope.models.checkpoint import locate
    from headscope.models.prediction_heads import predicts_words, sees_its_answers

    kinds = [f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(value).__mro__]
    if isinstance(value, Model):
        return value
    if isinstance(value, str | os.PathLike):
        folder = Path(tokenizer) if isinstance(tokenizer, str | os.PathLike) else None
        checkpoint = locate(str(value), tokenizer=folder)
        loaded = load(checkpoint, head=predicts_words(checkpoint) if head is None else head)
        return load(checkpoint) if head is None and sees_its_answers(loaded) else loaded
    if "sentence_transformers.SentenceTransformer" in kinds:
        return wrap(value[0].auto_model, value.tokenizer, "SentenceTransformer")
    if "transformers.Pipeline" in kinds:
        return as_model(value.model, tokenizer or value.tokenizer)
    if "peft.PeftModel" in kinds:
        return as_model(deepcopy(value).merge_and_unload(), tokenizer)
    if "xarray.Dataset" in kinds:
        beside = "headscope.compare(result, other) takes two results, and no corpus"
        raise HeadscopeError(f"model: a result is no model; {ALLOWED}; {beside}")
    if "transformers.PreTrainedModel" not in kinds:
        raise HeadscopeError(f"model: a {type(value).__name__} is no model; {ALLOWED}")
    if tokenizer is None:
        raise HeadscopeError(f"model: a {type(value).__name__} has no tokenizer of its own; give it as tokenizer=")
    return wrap(value, tokenizer, type(value).__name__)


def model(value: Any, others: Others) -> Any:
    """A model, with its task head if there is a task."""
    head = (task_of(others) is not None or None) if scores_task(others) else False
    return as_model(value, others["tokenizer"], head=head)


def model_name(value: Any, others: Others) -> str:
    """The name or folder of a model that is loaded again for each training."""
    if not isinstance(value, str | os.PathLike):
        raise HeadscopeError(
            f"model: a {type(value).__name__} is in memory, and each training loads the model again; save it with "
            "save_pretrained, its tokenizer too, and give the folder"
        )
    return str(value)


def words_model(value: Any, others: Others) -> Any:
    """A model, with its head for masked or next words if it is loaded by name."""
    from headscope.models.checkpoint import locate
    from headscope.models.prediction_heads import predicts_words

    head = isinstance(value, str | os.PathLike) and predicts_words(locate(str(value)))
    return as_model(value, others["tokenizer"], head=head)


def models(value: Any, others: Others) -> Any:
    """Several models; those after the first with their task heads if there is a task."""
    task, value = task_of(others) is not None, value if isinstance(value, tuple | list) else (value,)
    return tuple(as_model(model, others["tokenizer"], head=task and n > 0) for n, model in enumerate(value))


def steps(value: Any, others: Others) -> Any:
    """The models of a training: names and folders as they are, and objects as models."""
    several = value if isinstance(value, tuple | list) else (value,)
    return tuple(
        str(step) if isinstance(step, str | os.PathLike) else as_model(step, others["tokenizer"]) for step in several
    )


def measures(value: Any, others: Others) -> Any:
    """Measures: objects, modules, or names of installed ones."""
    from headscope.passes.measures import checked, measure_named

    several = value if isinstance(value, tuple | list) else (value,)
    return tuple(measure_named(measure) if isinstance(measure, str) else checked(measure) for measure in several)


def task(value: Any, others: Others) -> Any:
    """A task: an object, a table, or texts in memory with labels."""
    from headscope.corpora import tasks

    if value is None or isinstance(value, tasks.Task):
        return value
    name = Path(value).name.partition(".")[0] if isinstance(value, str | os.PathLike) else "labels"
    has_no_labels = isinstance(value, list | tuple) and not any(isinstance(row, dict) for row in value)
    if others["labels"] is None and has_no_labels:
        raise HeadscopeError("task: these texts have no labels; give them as labels=[...], one for each text")
    return tasks.read(name, value, labels=others["labels"])


def several_tasks(value: Any, others: Others) -> Any:
    """One or more tasks."""
    from headscope.corpora import tasks

    several = isinstance(value, tuple | list) and all(isinstance(task, tasks.Task) for task in value)
    return value if several else (task(value, others),)


def corpus(value: Any, others: Others) -> Any:
    """A corpus; pairs of paragraphs are counted in the pieces of the model's tokenizer."""
    from headscope import corpora

    def offsets(text: str) -> list[tuple[int, int]]:
        pieces = _tokenizer(others)(text, add_special_tokens=False, verbose=False, return_offsets_mapping=True)
        return pieces["offset_mapping"]

    if isinstance(value, str) and " " in value and not os.path.lexists(value):
        raise HeadscopeError(f"corpus '{value[:60]}' is no file; give a text in a list, [text]")
    return corpora.read(value, offsets=offsets)


def corpora(value: Any, others: Others) -> Any:
    """One or more corpora."""
    return tuple(corpus(source, others) for source in (value if isinstance(value, tuple) else (value,)))


def directory(value: Any, others: Others) -> Path:
    """The folder of the result."""
    return Path(value)


def _tokenizer(others: Others) -> Any:
    """The tokenizer of the model, or of its checkpoint where a study loads that itself."""
    from headscope.models.checkpoint import locate
    from headscope.models.tokenizer import load_tokenizer

    if name := others.get("ModelName") or others.get("TokenizerName"):
        return load_tokenizer(locate(name))
    if "Steps" in others:
        from headscope.models.step_folder import first_checkpoint

        first = others["Steps"][0]
        return load_tokenizer(first_checkpoint(first)) if isinstance(first, str) else first.tokenizer
    several = others.get("tuple[Model, ...]") or [others[kind] for kind in ("Model", "WordsModel") if kind in others]
    return several[0].tokenizer
