"""Inputs of a study from the values of options of the command line, and from inputs that were made before."""

import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from headscope.errors import HeadscopeError
from headscope.storage.kept_inputs import are_kept, kept

Given = Mapping[str, Any]

LOADING = ("device", "dtype", "revision", "remote_code", "tokenizer")
FLOAT32 = ("device", "revision", "remote_code")  # without dtype: weights are trained in float32
READING = ("kind", "columns", "document", "task", "split", "segment", "limit", "skip_bad", "annotate")
TREEBANK = tuple(name for name in READING if name != "task")
TASK = ("task", "data", "columns", "limit", "skip_bad", "regression")
TASKS = ("Task", "Task | None")
STANDARD_INPUT = "-"
RUNNING = ("long", "seed", "batch_tokens", "workers", "resamples")


def directory(values: Given, inputs: Given) -> Path:
    """The folder of the result, which can be written to."""
    from headscope.front.cli.output_folder import writable

    return writable(values["out"])


def scores_task(inputs: Given) -> bool:
    """Whether there may be a task among inputs by type."""
    return any(kind in inputs for kind in TASKS)


def task_of(inputs: Given) -> Any:
    """The task among inputs by type; None if there is none."""
    return next((inputs[kind] for kind in TASKS if kind in inputs), None)


def task(values: Given, inputs: Given) -> Any:
    """The task of --task; None without it."""
    return _read_task(values["task"], values) if values["task"] else None


def scored_task(values: Given, inputs: Given) -> Any:
    """The task of --task; else that of a table, if the model predicts no words; else the words of the corpus."""
    from headscope.corpora import tasks
    from headscope.models.prediction_heads import has_words_head, predicts_words

    if named := task(values, inputs):
        return named
    checkpoint = _checkpoint(values)
    if predicts_words(checkpoint) and not has_words_head(checkpoint):
        return tasks.words(_read_corpus(values["corpus"], {**values, "whole_documents": True}))
    if tasks.is_table(values["corpus"]) and not has_words_head(checkpoint):
        table = {**values, "data": values["corpus"], "corpus": "sample"}
        return _read_task(Path(values["corpus"]).name.partition(".")[0], table)
    return tasks.masked(_read_corpus(values["corpus"], values))


def measures(values: Given, inputs: Given) -> Any:
    """The installed measures of --measures."""
    from headscope.passes.measures import measure_named

    return tuple(measure_named(name.strip()) for name in (values["measures"] or "").split(",") if name.strip())


def tasks(values: Given, inputs: Given) -> Any:
    """The tasks of --task."""
    return tuple(_read_task(name, values) for name in _names(values))


def _names(values: Given) -> list[str]:
    if not values["task"]:
        raise HeadscopeError("no task is named; use --task NAME (mrpc, or several: rte,mrpc) and --data FOLDER")
    return [name.strip() for name in values["task"].split(",")]


def _read_task(name: str, values: Given) -> Any:
    from headscope import corpora
    from headscope.corpora import tasks

    # A corpus that is named beside the task has the options that say how texts are read.
    beside = values.get("other") is not None or values.get("corpus", "sample") != "sample"
    names = ("columns", "limit", "skip_bad", *(() if beside else ("kind", "document", "annotate")))
    options = corpora.Options(**{option: values[option] for option in names if option in values})
    return tasks.read(name, values["data"], options, regression=values["regression"])


def corpus(values: Given, inputs: Given) -> Any:
    """The corpus of the command; the dev split of the task if there is one, and no corpus is named."""
    if (scored := task_of(inputs)) and values.get("other") is None:
        if values.get("corpus", "sample") != "sample":
            raise HeadscopeError(f"task '{scored.name}' has its own examples; leave out '{values['corpus']}'")
        return scored.dev
    return _read_corpus(values["corpus"] if "corpus" in values else values["other"] or "sample", values)


def documents(values: Given, inputs: Given) -> Any:
    """The corpus of the command, of which a limit takes whole documents."""
    return corpus({**values, "whole_documents": True}, inputs)


def own_texts(values: Given, inputs: Given) -> Any:
    """The corpus of the command, beside a task, too; the dev split of the task if no corpus is named."""
    named = values["corpus"] != "sample"
    return _read_corpus(values["corpus"], values) if named else corpus(values, inputs)


def training(values: Given, inputs: Given) -> Any:
    """The corpus of --train; None without it."""
    if values["training"]:
        return _read_corpus(values["training"], {**values, "limit": values["training_limit"]})
    if values["training_limit"] is not None:
        raise HeadscopeError("--train-limit limits the corpus of --train; name that, or use --limit")
    return None


def trainings(values: Given, inputs: Given) -> Any:
    """The corpora of --train, of which there may be several; None without it."""
    several = [{**values, "whole_documents": True, "training": source} for source in values["trainings"] or [None]]
    return tuple(corpus for source in several if (corpus := training(source, inputs)) is not None) or None


def treebanks(values: Given, inputs: Given) -> Any:
    """One or more corpora, of which a limit takes whole documents."""
    return _corpora({**values, "whole_documents": True})


def _corpora(values: Given) -> Any:
    return tuple(_read_corpus(source, values) for source in values["corpora"] or ["sample"])


def corpora(values: Given, inputs: Given) -> Any:
    """One or more corpora, or with --task and --data the dev splits of tasks."""
    if not (values["data"] or values["task"]):
        return _corpora(values)
    if values["corpora"] or values["data"] is None:
        raise HeadscopeError(
            "tasks are read with --task NAME,NAME --data FOLDER and without CORPUS; corpora without both"
        )
    from headscope import corpora
    from headscope.corpora import tasks

    names = ("columns", "document", "limit", "skip_bad", "split", "annotate")
    options = corpora.Options(**{name: values[name] for name in names})
    return tuple(tasks.texts(name, values["data"], options) for name in _names(values))


def suites(values: Given, inputs: Given) -> Any:
    """Suites of cloze items, by name or file."""
    from headscope.corpora.suites import read_suites

    options = {name: values[name] for name in ("limit", "per_condition", "skip_bad")}
    return read_suites(values["suites"], values["data"], **options)


def _read_corpus(source: str, values: Given) -> Any:
    from headscope import corpora

    options: dict[str, Any] = {name: values.get(name) for name in READING}
    options["whole_documents"] = values.get("whole_documents", False)
    if "data" in values:  # then --task names the task that is scored
        options["task"] = None
    checkpoint = _checkpoint(values)

    def offsets(text: str) -> list[tuple[int, int]]:
        from headscope.encoding.encoder import offsets_of  # imports torch, which most corpora do not need

        return cached.setdefault("offsets", offsets_of(checkpoint))(text)

    cached: dict[str, Callable[[str], list[tuple[int, int]]]] = {}
    ready = corpora.Options(**options)
    if values.get("engine") == "ray":  # workers are sent the check of each study, however short it was
        return _read(source, ready, offsets, kept=values.get("kept"), keep_from=0)
    return kept(
        ("corpus", source, str(checkpoint), *options.values()),
        lambda: _read(source, ready, offsets, kept=values.get("kept")),
        lambda corpus: not (corpus.files and corpus.files.changed),
    )


def reads_standard_input(values: Mapping[str, Any]) -> bool:
    """Whether a corpus is standard input, which can be read once, and by this process alone.

    >>> reads_standard_input({"corpus": "texts.txt", "other": "-"})
    True
    """
    single, several = ("corpus", "other", "training"), ("corpora", "trainings")
    named = [values.get(name) for name in single] + [source for name in several for source in values.get(name) or ()]
    return STANDARD_INPUT in named


def _read(source: str, options: Any, offsets: Any, **kept: Any) -> Any:
    """A corpus; `-` is what standard input has, by default one text a line."""
    from headscope import corpora
    from headscope.corpora.reading import read_copy

    if source != STANDARD_INPUT:
        return corpora.read(source, options, offsets=offsets, **kept)
    options = replace(options, kind=options.kind or "text", offsets=offsets)
    return read_copy(sys.stdin.buffer, "standard input", options)


def model(values: Given, inputs: Given) -> Any:
    """A loaded model, with its task head if there is a task; where there might be one, with a head for words."""
    from headscope.models.prediction_heads import sees_its_answers

    checkpoint, task = _checkpoint(values), task_of(inputs)
    if task is not None and task.kind == "words":
        return words_model(values, inputs)
    if task is not None:
        return _loaded(checkpoint, values, True)
    loaded = words_model(values, inputs) if scores_task(inputs) else None
    return _bare(checkpoint, values) if loaded is None or sees_its_answers(loaded) else loaded


def words_model(values: Given, inputs: Given) -> Any:
    """A loaded model, with its head for masked or next words."""
    from headscope.models.prediction_heads import predicts_words

    checkpoint = _checkpoint(values)
    return _loaded(checkpoint, values, predicts_words(checkpoint))


def _checkpoint(values: Given) -> Any:
    from headscope.models.checkpoint import locate

    options: dict[str, Any] = {name: values.get(name) for name in ("revision", "remote_code", "tokenizer")}
    if named := values.get("model") or values.get("tokenizer_of") or (values.get("models") or [""])[0]:
        return locate(named, **options)
    from headscope.models.step_folder import first_checkpoint

    return first_checkpoint(values["steps"][0], **options)


def _bare(checkpoint: Any, values: Given) -> Any:
    """A model without its head: in a survey the network within that with the head for words, loaded once for both."""
    from headscope.models.loading import without_head
    from headscope.models.prediction_heads import predicts_words

    def within() -> Any:
        with suppress(HeadscopeError):  # a study that needs the head says why it cannot be loaded
            return without_head(_loaded(checkpoint, values, True))

    if are_kept() and predicts_words(checkpoint) and (bare := kept(_key(checkpoint, values, "within"), within)):
        return bare
    return _loaded(checkpoint, values, False)


def _loaded(checkpoint: Any, values: Given, head: bool) -> Any:
    from headscope import models

    options = {option: values[option] for option in LOADING}
    return kept(_key(checkpoint, values, head), lambda: models.load(checkpoint, head=head, **options))


def _key(checkpoint: Any, values: Given, head: bool | str) -> Hashable:
    return ("model", str(checkpoint), head, *(values[option] for option in LOADING))


def models(values: Given, inputs: Given) -> Any:
    """Two or more loaded models, with their task heads if there is a task."""
    names = values["models"]
    if len(names) < 2:
        raise HeadscopeError(f"model '{names[0]}' is compared with nothing; name two or more models")
    # The first is what a model was before it was trained, and needs no task head.
    scored = task_of(inputs) is not None
    return tuple(_loaded(name, values, scored and n > 0) for n, name in enumerate(names))


def settings(values: Given, inputs: Given) -> Any:
    """How a pass runs."""
    from headscope.passes import Settings

    return Settings(**{name: values[name] for name in RUNNING if name in values})
