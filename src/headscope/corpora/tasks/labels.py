"""Labels: which are no class, which names mean the same class, and the order of a model's outputs by their names."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headscope.corpora import Corpus
from headscope.corpora.readers.glue import GLUE, NAMES
from headscope.corpora.tasks.task import OF_WORDS, Task, refuse_spans
from headscope.errors import HeadscopeError, spelled
from headscope.linguistics.sentence import Example

Label = str | float | None
# The default names of transformers for outputs.
UNNAMED = re.compile(r"label_\d+|\d+")
WHOLE = re.compile(r"([+-]?\d+)\.0*")
# Names that data sets and classifiers of the hub have for one class.
SYNONYMS = (
    ("entailment", "entailed", "entails", "entail"),
    ("not_entailment", "not_entailed", "non_entailment", "no_entailment"),
    ("contradiction", "contradictory", "contradicts", "contradict"),
    ("positive", "pos"),
    ("negative", "neg"),
    ("acceptable", "grammatical"),
    ("unacceptable", "ungrammatical", "not_acceptable"),
    ("equivalent", "paraphrase", "duplicate", "is_duplicate", "same"),
    ("not_equivalent", "not_paraphrase", "not_duplicate", "non_paraphrase", "different"),
)
MEANING = {name: names[0] for names in SYNONYMS for name in names}


def class_name(label: Label) -> str:
    """The name of a class: 1, 1.0 and "1.0" are the same class, and so are None, NaN and "".

    >>> class_name(1.0), class_name("2.0"), class_name("0.5"), class_name(float("nan"))
    ('1', '2', '0.5', '')
    """
    if label is None or label != label:
        return ""
    number = WHOLE.fullmatch(str(label).strip())
    return number[1] if number else str(label)


def no_classes(names: Iterable[str], *, scores: bool) -> set[str]:
    """Which names of classes say that an example has none: "" and, as data sets of the hub and SNLI have it, -1 and -.

    "-" is a class beside "+", and -1 where another class is negative, or where it is one of two; or a score.

    >>> sorted(no_classes(["0", "1", "-1"], scores=False)), sorted(no_classes(["1", "-1"], scores=False))
    (['', '-', '-1'], ['', '-'])
    """
    others = set(names) - {"", "-", "-1"}
    signs = {"-"} - ({"-"} if "+" in others else set())
    numbers = set() if scores or len(others) < 2 or any(name.startswith("-") for name in others) else {"-1"}
    return {"", *signs, *numbers}


def labelled(corpus: Corpus, without: Collection[str], *, scores: bool) -> Corpus:
    """The examples that have a label, with names of classes where labels are no scores; all others are counted."""
    counts = Counter(name for example in corpus if (name := class_name(example.label)) in without)

    def examples() -> Iterable[Example]:
        for example in corpus:
            if (name := class_name(example.label)) not in without:
                yield example if scores or name == example.label else replace(example, label=name)

    skipped = {f"without a label{f' ({name})' if name else ''}": count for name, count in counts.items()}
    documents = {example.document for example in examples()} - {""} if counts else ()
    n_documents = len(documents) if counts else corpus.n_documents
    return replace(
        corpus,
        n_examples=corpus.n_examples - counts.total(),
        skipped=corpus.skipped | skipped,
        again=lambda: iter(examples()),
        n_documents=n_documents,
    )


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names of classes in their order: numbers by their size, else by the alphabet.

    >>> in_order(["10", "9"]), in_order(["b", "a"])
    (('9', '10'), ('a', 'b'))
    """
    try:
        return tuple(sorted(names, key=float))
    except ValueError:
        return tuple(sorted(names))


def named_order(task: Task, outputs: Sequence[str]) -> tuple[str, ...] | None:
    """The classes of a task in the order of a model's outputs, as far as their names decide it; else None."""
    names = list(map(_plain, outputs))
    if all(UNNAMED.fullmatch(name) for name in names):
        return task.labels if tuple(names) == tuple(map(_plain, task.labels)) else None
    labels = NAMES.get(spelled(task.name, GLUE) or "", ())
    numbered = {str(number): name for number, name in enumerate(labels)}
    for ours in (list(task.labels), [numbered.get(label, label) for label in task.labels]):
        for plain in (_plain, _meaning, _number):
            by_name = dict(zip(map(plain, ours), task.labels, strict=True))
            order = [by_name.get(plain(name)) for name in names]
            if None not in order and len(set(order)) == len(task.labels):
                return tuple(filter(None, order))
    return None


def aligned(task: Task, id2label: Mapping[Any, str], model: str) -> Task:
    """The task with its labels in the order of a model's outputs.

    * `id2label`: the names of the outputs, from the model's configuration; default names ("LABEL_0") stand for the
      task's own order, and so do all names where a table numbers its classes from 0.

    Raises `HeadscopeError` if the model has another number of outputs, or other names for them.
    """
    refuse_spans(task)
    if task.kind in (*OF_WORDS, "cloze", "shortcuts"):
        return task
    outputs = names_of(id2label)
    expected = len(task.labels) or 1
    if len(outputs) != expected:
        raise HeadscopeError(
            f"model '{model}' has {len(outputs)} outputs ({', '.join(outputs)}), task '{task.name}' has {expected} "
            f"({', '.join(task.labels) or 'a number'}); use a model that was fine-tuned on this task"
        )
    if task.kind in ("regression", "choice"):
        return task
    if order := named_order(task, outputs):
        return replace(task, labels=order)
    are_numbers = spelled(task.name, GLUE) is None and task.labels == tuple(map(str, range(expected)))
    if not (are_numbers or all(UNNAMED.fullmatch(_plain(name)) for name in outputs)):
        raise HeadscopeError(
            f"model '{model}' has the labels {', '.join(outputs)}, task '{task.name}' has {', '.join(task.labels)}; "
            "use a model that was fine-tuned on this task, or rename the labels in its config.json (id2label)"
        )
    return task


def names_of(id2label: Mapping[Any, str]) -> list[str]:
    """The names of a model's outputs in their order."""
    return [str(id2label[number]) for number in sorted(id2label)]


def _plain(name: str) -> str:
    return re.sub(r"[-\s]+", "_", class_name(name).strip().casefold())


def _meaning(name: str) -> str:
    return MEANING.get(_plain(name), _plain(name))


def _number(name: str) -> str:
    """The only number in a name, as in "4 stars"."""
    numbers = re.findall(r"\d+", name)
    return numbers[0] if len(numbers) == 1 else name
