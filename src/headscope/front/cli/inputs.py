"""Inputs of a study's `run`: each is made from the options that belong to its name.

* `directory`: the folder of the result; `settings`: how a pass runs.
* `corpus`: a corpus; `corpora`: one or more, or with --task and --data the dev splits of tasks; `read_corpora`: reads
  them when it is called, for what may not need them.
* `treebanks`: one or more corpora; `trainings`: the corpora of --train, of which there may be several, else None.
* `suites`: suites of cloze items, by name or file; the model then has its head for words.
* `training`: the corpus of --train, None without it.
* `tasks`: several tasks; `task`: one, or without --task None where the parameter allows it, else the masked words
  of a corpus.
* `model`: a loaded model, with its task head if there is a task; where there may be one but is none, with its head
  for masked words if it has that. `models`: two or more of them.
* `checkpoint` and `loading`: the name of a model and how to load it, for studies that do so themselves.
"""

import atexit
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from headscope.errors import HeadscopeError
from headscope.front.cli.output_folder import writable

Given = Mapping[str, Any]

LOADING = ("device", "dtype", "revision", "remote_code")
FLOAT32 = ("device", "revision", "remote_code")  # without dtype: weights are trained in float32
READING = ("kind", "columns", "task", "split", "segment", "limit", "skip_bad", "annotate")
TREEBANK = tuple(name for name in READING if name != "task")
TASK = ("task", "data", "columns", "limit", "skip_bad", "regression")
STANDARD_INPUT = "-"
RUNNING = ("long", "seed", "batch_tokens", "workers", "resamples")


@dataclass(frozen=True)
class Input:
    """An input of a function: the shared options that it is made from, and how it is made.

    * `make`: from the values of the options, and from the inputs that were made before.
    """

    options: tuple[str, ...]
    make: Callable[[Given, Given], Any]


def options_of(inputs: Mapping[str, bool]) -> set[str]:
    """The shared options that these inputs, which may be left out or not, are made from."""
    names: set[str] = {option for name in inputs for option in INPUTS[name].options}
    if inputs.get("task") is False:
        names |= {"corpus", *READING}
    if "suites" in inputs:  # no attention is kept
        names -= {"examples"}
    if inputs.keys() <= {"directory", "settings"}:  # no model runs
        names -= {"batch_tokens", "workers", "resamples"}
    if "read_corpora" in inputs:  # nothing is estimated
        names -= {"resamples"}
    return (names - {"corpus"}) | {"other"} if {"models", "corpus"} <= names else names


def made(inputs: Mapping[str, bool], given: Given) -> dict[str, Any]:
    """The inputs; `inputs` says of each whether it may be left out.

    Raises `HeadscopeError` for the first of them that cannot be made.
    """
    done: dict[str, Any] = {}
    for name, each in INPUTS.items():
        if name in inputs:
            done[name] = each.make(given, done)
            if name == "task" and done[name] is None and not inputs[name]:
                done[name] = _masked(given)
    return done


def _task(given: Given, done: Given) -> Any:
    return _read_task(given["task"], given) if given["task"] else None


def _tasks(given: Given, done: Given) -> Any:
    return tuple(_read_task(name, given) for name in _names(given))


def _names(given: Given) -> list[str]:
    if not given["task"]:
        raise HeadscopeError("no task is named; use --task NAME (mrpc, or several: rte,mrpc) and --data FOLDER")
    return [name.strip() for name in given["task"].split(",")]


def _read_task(name: str, given: Given) -> Any:
    from headscope import corpora
    from headscope.corpora import tasks

    options = corpora.Options(**{option: given[option] for option in ("columns", "limit", "skip_bad")})
    return tasks.read(name, given["data"], options, regression=given["regression"])


def _masked(given: Given) -> Any:
    from headscope.corpora import tasks

    return tasks.masked(_read_corpus(given["corpus"], given))


def _corpus(given: Given, done: Given) -> Any:
    if done.get("task") and given.get("other") is None:
        if given.get("corpus", "sample") != "sample":
            raise HeadscopeError(f"task '{done['task'].name}' has its own examples; leave out '{given['corpus']}'")
        return done["task"].dev
    return _read_corpus(given["corpus"] if "corpus" in given else given["other"] or "sample", given)


def _training(given: Given, done: Given) -> Any:
    if given["training"]:
        return _read_corpus(given["training"], {**given, "limit": given["training_limit"]})
    if given["training_limit"] is not None:
        raise HeadscopeError("--train-limit limits the corpus of --train; name that, or use --limit")
    return None


def _trainings(given: Given, done: Given) -> Any:
    one = [{**given, "training": source} for source in given["trainings"] or [None]]
    corpora = tuple(corpus for each in one if (corpus := _training(each, done)) is not None)
    return corpora or None


def _treebanks(given: Given, done: Given) -> Any:
    return tuple(_read_corpus(source, given) for source in given["corpora"] or ["sample"])


def _corpora(given: Given, done: Given) -> Any:
    if not (given["data"] or given["task"]):
        return _treebanks(given, done)
    if given["corpora"] or given["data"] is None:
        raise HeadscopeError(
            "tasks are read with --task NAME,NAME --data FOLDER and without CORPUS; corpora without both"
        )
    from headscope import corpora
    from headscope.corpora import tasks

    options = corpora.Options(**{name: given[name] for name in ("columns", "limit", "skip_bad", "split")})
    return tuple(tasks.texts(name, given["data"], options) for name in _names(given))


def _suites(given: Given, done: Given) -> Any:
    from headscope.corpora.suites import read_suites

    options = {name: given[name] for name in ("limit", "per_condition", "skip_bad")}
    return read_suites(given["suites"], given["data"], **options)


def _read_corpus(source: str, given: Given) -> Any:
    from headscope import corpora
    from headscope.models.checkpoint import locate

    options: dict[str, Any] = {name: given.get(name) for name in READING}
    if "data" in given:  # then --task names the task that is scored
        options["task"] = None
    name = given["model"] if "model" in given else given["models"][0]
    checkpoint = locate(name, revision=given["revision"], remote_code=given["remote_code"])

    def offsets(text: str) -> list[tuple[int, int]]:
        from headscope.encoding.encoder import offsets_of  # imports torch, which most corpora do not need

        return cached.setdefault("offsets", offsets_of(checkpoint))(text)

    cached: dict[str, Callable[[str], list[tuple[int, int]]]] = {}
    return _read(source, corpora.Options(**options), offsets, given.get("kept"))


def reads_standard_input(given: Mapping[str, Any]) -> bool:
    """Whether a corpus is standard input, which can be read once, and by this process alone.

    >>> reads_standard_input({"corpus": "texts.txt", "other": "-"})
    True
    """
    one, several = ("corpus", "other", "training"), ("corpora", "trainings")
    named = [given.get(name) for name in one] + [source for name in several for source in given.get(name) or ()]
    return STANDARD_INPUT in named


def _read(source: str, options: Any, offsets: Any, kept: Path | None) -> Any:
    """A corpus; `-` is what standard input has, by default one text a line."""
    from headscope import corpora

    if source != STANDARD_INPUT:
        return corpora.read(source, options, offsets=offsets, kept=kept)
    with NamedTemporaryFile(prefix="headscope-", delete=False) as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    atexit.register(os.unlink, copy.name)
    options = replace(options, kind=options.kind or "text")
    try:
        return replace(corpora.read(copy.name, options, offsets=offsets), name="standard input")
    except HeadscopeError as error:
        name = Path(copy.name)
        raise HeadscopeError(str(error).replace(f"{name.parent.name}/{name.name}", "standard input")) from error


def _model(given: Given, done: Given) -> Any:
    from headscope import models
    from headscope.models.checkpoint import locate
    from headscope.models.masked_lm import has_words_head
    from headscope.models.words_head import predicts_words

    checkpoint = locate(given["model"], revision=given["revision"], remote_code=given["remote_code"])
    head = done["task"] is not None or has_words_head(checkpoint) if "task" in done else False
    if "suites" in done:
        head = predicts_words(checkpoint)
    return models.load(checkpoint, head=head, **{each: given[each] for each in LOADING})


def _models(given: Given, done: Given) -> Any:
    from headscope import models

    names = given["models"]
    if len(names) < 2:
        raise HeadscopeError(f"model '{names[0]}' is compared with nothing; name two or more models")
    # The first is what a model was before it was trained, and needs no task head.
    heads = [done.get("task") is not None and place > 0 for place in range(len(names))]
    loading = {each: given[each] for each in LOADING}
    return tuple(models.load(name, head=head, **loading) for name, head in zip(names, heads, strict=True))


def _settings(given: Given, done: Given) -> Any:
    from headscope.passes import Settings

    return Settings(**{name: given[name] for name in RUNNING if name in given})


# Whatever is wrong with the folder, the texts or the model is said in this order, before anything is computed.
INPUTS = {
    "directory": Input(("out",), lambda given, done: writable(given["out"])),
    "task": Input(TASK, _task),
    "tasks": Input(TASK, _tasks),
    "corpus": Input(("corpus", *READING, "long"), _corpus),
    "corpora": Input(("corpora", *READING, "data", "long"), _corpora),
    "treebanks": Input(("corpora", *TREEBANK, "long"), _treebanks),
    "trainings": Input(("trainings", "training_limit", *TREEBANK, "long"), _trainings),
    "suites": Input(("suites",), _suites),
    "training": Input(("training", "training_limit", *READING, "long"), _training),
    "read_corpora": Input(("corpora", *READING, "data"), lambda given, done: partial(_corpora, given, done)),
    "model": Input(("model", "examples", *LOADING), _model),
    "models": Input(("models", "examples", *LOADING), _models),
    "checkpoint": Input(("model",), lambda given, done: given["model"]),
    "loading": Input(FLOAT32, lambda given, done: {name: given[name] for name in FLOAT32}),
    "settings": Input(("seed", "batch_tokens", "workers", "resamples"), _settings),
}
