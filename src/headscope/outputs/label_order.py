"""The order of a model's outputs: by their names or, where these say nothing, tested on labelled examples."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from headscope.corpora import Corpus
from headscope.corpora.corpus import part
from headscope.corpora.suites.item import at_equal_distances
from headscope.corpora.tasks import Task, aligned
from headscope.corpora.tasks.labels import named_order, names_of
from headscope.errors import HeadscopeError
from headscope.models import Model
from headscope.outputs.outputs import task_outputs
from headscope.outputs.task_inputs import task_inputs
from headscope.passes.settings import DEFAULTS, Settings
from headscope.statistics.bootstrap import poisson_draws
from headscope.statistics.intervals import equal_units, interval
from headscope.statistics.split_half import split_in_half

# Examples on which orders are scored, and the least of them; half of them choose an order, the others test it.
MOST_EXAMPLES, LEAST_EXAMPLES = 400, 20
# Another order is far better where it is surely right this much more often than that of the task.
FAR = 0.1


def in_model_order(task: Task, model: Model, settings: Settings = DEFAULTS) -> Task:
    """The task with its labels in the order of a model's outputs.

    Where names do not decide it, all orders are scored: half of at most 400 examples choose one, the others test it.

    Raises `HeadscopeError` if the outputs cannot be those of the task, or if another order of names that do not decide
    is far better than the one in which they would be read.
    """
    id2label: Any = model.network.config.id2label or {}
    task = aligned(task, id2label, model.name)
    outputs = names_of(id2label)
    has_no_head = model.network.base_model is model.network  # which each study refuses itself
    if task.kind != "classification" or named_order(task, outputs) or has_no_head:
        return task
    named = f"model '{model.name}' calls its outputs {', '.join(outputs)}"
    read = f"{named}, which do not name the classes of '{task.name}'; they are read as {', '.join(task.labels)}"
    corpus = part(task.dev, np.array(at_equal_distances(range(task.dev.n_examples), MOST_EXAMPLES)))
    if corpus.n_examples < LEAST_EXAMPLES:
        settings.on_notice(f"{read}, which {corpus.n_examples} examples are too few to test")
        return task
    scored = _tested(task, corpus, model, settings)
    if not scored.is_far_better:
        settings.on_notice(f"{read}: on {scored.n} examples no other order is far better")
        return task
    better = [task.labels[number] for number in scored.order]
    raise HeadscopeError(
        f"{read}, and would be right on {scored.before:.2f} of {scored.n} examples; as {', '.join(better)} on "
        f"{scored.after:.2f} (95% interval of the difference {scored.gained[0]:.2f} to {scored.gained[1]:.2f}); "
        f"{_remedy(task, outputs, better)}"
    )


@dataclass(frozen=True)
class ScoredOrder:
    """The order that one half of the examples chose, tested on the other half.

    * `order`: the class of each output; `n`: the number of tested examples.
    * `before`, `after`: the share of right answers in the order of the task, and in this one.
    * `gained`, `learned`: 95% intervals of what the order is better by than that of the task, and than always the most
      frequent class: a model that always gives one answer has learned no order.
    """

    order: Int[np.ndarray, " output"]
    n: int
    before: float
    after: float
    gained: Float[np.ndarray, " 2"]
    learned: Float[np.ndarray, " 2"]

    @property
    def is_far_better(self) -> bool:
        """Whether the order is shown to be far better than that of the task, and than one answer for all."""
        return bool(self.gained[0] > FAR and self.learned[0] > 0)


def _tested(task: Task, corpus: Corpus, model: Model, settings: Settings) -> ScoredOrder:
    answers = task_outputs(task_inputs(model, task, corpus), settings.quiet).argmax(-1)
    targets, units = task.targets(corpus).astype(int), np.asarray(corpus.units)
    choosing = split_in_half(units, settings.seed)
    order = best_order(answers[choosing], targets[choosing], len(task.labels))
    usual = np.bincount(targets[choosing]).argmax()
    right = np.stack([answers == targets, order[answers] == targets, targets == usual])[:, ~choosing].astype(float)
    draws = poisson_draws(units[~choosing], settings.seed, settings.resamples)
    draws = draws[draws.any(1)]
    drawn = draws @ right.T / draws.sum(1, keepdims=True)  # [resample, row of `right`]
    gained, learned = interval(drawn[:, [1]] - drawn[:, [0, 2]], equal_units(units[~choosing].tolist()))
    before, after, _ = right.mean(1).tolist()
    return ScoredOrder(order, right.shape[1], before, after, gained, learned)


def best_order(
    answers: Int[np.ndarray, " example"], targets: Int[np.ndarray, " example"], classes: int
) -> Int[np.ndarray, " output"]:
    """The class of each output with which most answers are right (an assignment problem, Kuhn 1955).

    >>> best_order(np.array([0, 0, 1, 2]), np.array([2, 2, 0, 1]), 3).tolist()
    [2, 0, 1]
    """
    counts = np.zeros((classes, classes))
    np.add.at(counts, (answers, targets), 1)
    return linear_sum_assignment(-counts)[1]


def _remedy(task: Task, outputs: list[str], better: list[str]) -> str:
    if all(label.isdecimal() for label in task.labels) and not all(name.startswith("LABEL_") for name in outputs):
        names = ", ".join(f"'{output}' for {label}" for output, label in zip(outputs, better, strict=True))
        return f"write the names of the outputs into the table: {names}"
    named = json.dumps({str(number): name for number, name in enumerate(better)})
    return f'write "id2label": {named} into its config.json'
