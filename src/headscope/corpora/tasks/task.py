"""A task: labelled examples, and the metrics of a model on them."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from headscope.corpora import Corpus
from headscope.corpora.corpus import part
from headscope.corpora.suites import ClozeItem
from headscope.corpora.tasks.answers import scores_of_passage
from headscope.corpora.tasks.metrics import CORRELATIONS, score
from headscope.corpora.tasks.shortcuts import ShortcutPair
from headscope.errors import HeadscopeError
from headscope.linguistics.sentence import Example

TaskKind = Literal["classification", "regression", "choice", "span", "masked", "words", "cloze", "shortcuts"]
# Tasks of text alone, without labels; those whose examples are right or wrong; those whose gradients are not read.
OF_WORDS, RIGHT_OR_WRONG = ("masked", "words"), ("classification", "choice", "cloze", "shortcuts")
WITHOUT_GRADIENTS = ("choice", "span")


@dataclass(frozen=True, kw_only=True)
class Task:
    """Labelled examples and their metrics.

    * `kind`: "classification", "regression", "choice" (one output scores each choice of an example), "span" (the answer
      is a part of the second segment), "masked" (words that are masked together, without labels), "words" (the next
      words of a causal model; of a masked one some words, each masked by itself), "cloze" (the good text of each item
      has to score higher than the others) or "shortcuts" (pairs for any model of inference or paraphrase).
    * `labels`: the classes in the order of the model's outputs; empty except for a classification.
    * `metrics`: names in `metrics.METRICS`, the main one first.
    * `dev`: the scored split.
    * `train`: the training split, or None.
    * `items`: the items of a task of kind "cloze", in the order of `dev`, which has their good texts; `pairs`: the
      pairs of one of kind "shortcuts".
    * `pseudo_labelled`: whether its labels are a model's own answers.
    * `depths`: of a task of inference the steps that each dev example takes, and `trained_depth` the most in `train`.
    """

    name: str
    kind: TaskKind
    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...]
    dev: Corpus
    train: Corpus | None = None
    items: tuple[ClozeItem, ...] = ()
    pairs: tuple[ShortcutPair, ...] = ()
    pseudo_labelled: bool = False
    depths: tuple[int, ...] = ()
    trained_depth: int = 0

    def targets(self, corpus: Iterable[Example]) -> Float[np.ndarray, " example"]:
        """The class number or the score of each example; zeros for words, ones for items and pairs.

        Raises `HeadscopeError` with the first example without a valid label.
        """
        return np.array([self._target(example.label, example.id) for example in corpus])

    @property
    def splits(self) -> tuple[tuple[str, Corpus], ...]:
        """The splits that there are, each with its name."""
        return (("dev", self.dev), *((("train", self.train),) if self.train is not None else ()))

    def training(self) -> Corpus:
        """The training split. Raises `HeadscopeError` for a task without one."""
        if self.train is None:
            raise HeadscopeError(f"task '{self.name}' has no train split; add one to its folder (train.tsv)")
        return self.train

    def _target(self, label: str | float | None, where: str) -> float:
        if self.kind in (*OF_WORDS, "span", "cloze", "shortcuts"):
            return float(self.kind not in OF_WORDS)
        if self.kind == "classification" and label in self.labels:
            return float(self.labels.index(str(label)))
        if self.kind in ("regression", "choice") and (number := _finite(label)) is not None:
            return number
        expected = " or ".join(f"'{name}'" for name in self.labels) or "a finite number"
        written = "no label" if label in (None, "") else f"label '{label}'"
        raise HeadscopeError(
            f"task '{self.name}', example '{where}': {written}, expected {expected}; correct the label"
        )


def _finite(label: str | float | None) -> float | None:
    """The label as a number; None if it is not a finite one."""
    try:
        number = float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def chance(
    task: Task, targets: Float[np.ndarray, " example"], metrics: Sequence[str] = ()
) -> Float[np.ndarray, " metric"]:
    """The score of a constant answer, for items and choices of a random one; NaN where there is none.

    The answer is the most frequent class, with the shares of the classes as probabilities, a constant number, or of
    spans the whole passage.
    """
    names = metrics or task.metrics
    if task.kind == "cloze":
        at_random = float(np.mean([1 / len(item.candidates) for item in task.items if item.bad]))
        return np.array([at_random if name == "accuracy" else np.nan for name in names])
    if task.kind == "choice":
        numbers = np.array([len(example.second) for example in task.dev])
        at_random = {"accuracy": np.mean(1 / numbers), "cross_entropy": np.mean(np.log(numbers))}
        return np.array([at_random[name] for name in names])
    if task.kind == "span":
        outputs = np.array([scores_of_passage(example) for example in task.dev])
        return np.array([float(score(name, outputs, targets)) for name in names])
    if task.kind == "shortcuts":
        yes = float(np.mean([pair.entailed for pair in task.pairs]))
        return np.array([max(yes, 1 - yes) if name == "accuracy" else np.nan for name in names])
    if task.kind == "classification":
        counts = np.bincount(targets.astype(int), minlength=len(task.labels))
        outputs = np.tile(np.log(np.maximum(counts, 0.5) / len(targets)), (len(targets), 1))
        return np.array([float(score(name, outputs, targets)) for name in names])
    return np.array([0.0 if name in CORRELATIONS else np.nan for name in names])


def refuse_items(task: Task) -> None:
    """Raise `HeadscopeError` for a task of items, which no head for classes can be trained or scored on."""
    if task.kind in ("cloze", "shortcuts"):
        what = "compares texts" if task.kind == "cloze" else "scores what a model has learned elsewhere"
        raise HeadscopeError(f"task '{task.name}' {what}; only 'ablate' disables heads on it")


def refuse_spans(task: Task) -> None:
    """Raise `HeadscopeError` for a task of spans, which have no classes."""
    if task.kind == "span":
        raise HeadscopeError(f"task '{task.name}': its answers are parts of a text; only 'finetune' trains on them")


def refuse_choices(task: Task) -> None:
    """Raise `HeadscopeError` for a task of choices, whose loss is that of several inputs together, or of spans."""
    refuse_spans(task)
    if task.kind == "choice":
        raise HeadscopeError(
            f"task '{task.name}': the loss of a choice is that of several inputs, whose gradients are not read; use "
            "finetune or ablate"
        )


def unlearnable(task: Task) -> Counter[str]:
    """Numbers of dev examples by label, for the classes that the train split lacks."""
    if task.kind != "classification":
        return Counter()
    learned = {str(example.label) for example in task.training()}
    return Counter(label for example in task.dev if (label := str(example.label)) not in learned)


def limited(task: Task, examples: int) -> Task:
    """The task with `examples` of its training examples, drawn at random (seed 0) and kept in their order."""
    corpus = task.training()
    if examples >= corpus.n_examples:
        return task
    chosen = np.random.default_rng(0).choice(corpus.n_examples, examples, replace=False)
    return replace(task, train=part(corpus, chosen))
