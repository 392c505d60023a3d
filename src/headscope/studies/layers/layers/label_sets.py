"""Tasks whose answers are sets of labels: a classifier of each label, and one score of all, the micro-averaged F1.

So do Tenney et al. 2019 score spans with several labels. F1 is one less the decisions that are wrong, divided by the
labels that are given and those that are right.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from headscope.studies.layers.layers.features import TrainedTask
from headscope.studies.layers.layers.groups import Answers

Losses = Float[np.ndarray, "case space"]


def f1_parts(answers: Sequence[Answers], wrong: Sequence[Losses]) -> tuple[Losses, Losses]:
    """The parts of F1: one less the sum of the first over cases, divided by that of the second.

    * `wrong`: of each label, 1 for each case where the classifier is wrong.

    Returns: the number of wrong decisions of each case, and that of labels given and labels right.

    >>> gold = [Answers("task", 2, {"report": np.array(labels)}, label="x") for labels in ([1, 0], [1, 1])]
    >>> loss, base = f1_parts(gold, [np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]])])
    >>> (1 - loss.sum() / base.sum()).item()  # 2 labels right, 1 missing: 2 * 2 / (2 + 3)
    0.8
    """
    gold = [labels.numbers["report"][labels.present("report"), None] for labels in answers]
    given = [np.abs(right - errors) for right, errors in zip(gold, wrong, strict=True)]
    return np.sum(wrong, axis=0), np.sum(gold, axis=0) + np.sum(given, axis=0)


def joined_labels(answers: Sequence[Answers], trained: Sequence[TrainedTask]) -> TrainedTask:
    """The outcome of all labels of a task: the codes of all, the mean score for choices, the middle penalty."""
    loss, base = f1_parts(answers, [label.loss for label in trained])
    return TrainedTask(
        loss,
        base,
        choice=np.mean([label.choice for label in trained], axis=0),
        penalty=np.median([label.penalty for label in trained], axis=0),
        code=np.sum([label.code for label in trained], axis=0),
        uniform=float(np.sum([label.uniform for label in trained])),
    )
