"""A task: what is asked of a model about each example, and the examples with their answers."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float

from headscope.corpora import Corpus
from headscope.errors import HeadscopeError

Kind = Literal["classification", "regression", "masked"]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Labelled examples and how they are scored.

    * `kind`: classes, numbers, or the words behind a mask (which need no label).
    * `labels`: the classes, in the order of the model's outputs; empty unless it is a classification.
    * `metrics`: names of `metrics.METRICS`, the main one first.
    * `dev`: what is scored; `train`: what is trained on, None where there is none.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...]
    dev: Corpus
    train: Corpus | None = None

    def targets(self, corpus: Corpus) -> Float[np.ndarray, " example"]:
        """The class number or the score of each example; zeros where words behind a mask are asked for.

        Raises `HeadscopeError` naming the first example whose label is missing or none of the task's.
        """
        return np.array([self._target(example.label, example.id) for example in corpus])

    def training(self) -> Corpus:
        """The examples to train on.

        Raises `HeadscopeError` if the task has none.
        """
        if self.train is None:
            raise HeadscopeError(f"task '{self.name}' has no train split; add one to its folder (train.tsv)")
        return self.train

    def _target(self, label: str | float | None, where: str) -> float:
        if self.kind == "masked":
            return 0.0
        if self.kind == "classification" and label in self.labels:
            return float(self.labels.index(str(label)))
        if self.kind == "regression" and label is not None:
            return float(label)
        expected = " or ".join(f"'{name}'" for name in self.labels) or "a number"
        found = "no label" if label in (None, "") else f"label '{label}'"
        raise HeadscopeError(f"task '{self.name}', example '{where}': {found}, expected {expected}; mend its label")


def limited(task: Task, examples: int) -> Task:
    """The task with so many of its training examples, the same for all seeds, in their order."""
    corpus = task.training()
    if examples >= corpus.n_examples:
        return task
    chosen = set(np.random.default_rng(0).choice(corpus.n_examples, examples, replace=False).tolist())
    kept = [example for number, example in enumerate(corpus) if number in chosen]
    return replace(task, train=Corpus(corpus.name, corpus.sha256, len(kept), corpus.skipped, lambda: iter(kept)))
