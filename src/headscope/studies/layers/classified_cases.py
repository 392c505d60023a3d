"""Cases of several tasks with their vectors, and what a logistic regression needs of them."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.studies.layers.features import Vectors
from headscope.studies.layers.groups import ABSENT

Weights = Float[Tensor, "space column dim1"]


class ClassifiedCases:
    """Vectors with a dimension of ones at the end, and tasks in the order of their numbers of classes.

    * `classes`: of each task; `columns`: the places of its columns among the weights of all tasks in their own order.
    * `present`: 1 where a task has an answer; `sums`: of the vectors of each class; `counts`: of its cases.
    """

    def __init__(self, vectors: Vectors, answers: Int[Tensor, "task case"], classes: Sequence[int]):
        self.vectors = torch.cat([vectors, vectors.new_ones(*vectors.shape[:2], 1)], dim=-1)
        order = sorted(range(len(classes)), key=lambda task: classes[task])
        self.classes = [classes[task] for task in order]
        of_tasks = torch.arange(sum(classes), device=answers.device).split(list(classes))
        self.columns = torch.cat([of_tasks[task] for task in order])  # of the weights of all tasks
        self.present = (answers[order] != ABSENT).to(vectors)
        of_classes = [torch.arange(number, device=answers.device)[:, None] for number in self.classes]
        right = torch.cat([each == answers[task] for each, task in zip(of_classes, order, strict=True)]).to(vectors)
        self.sums = right @ self.vectors  # [space, column, dim1]
        self.counts = right.sum(1)

    def shares(self) -> Weights:
        """Intercepts that give each class its share of the cases, one added."""
        weights = torch.zeros_like(self.sums)
        logs = [each.log() - each.log().mean() for each in (self.counts + 1).split(self.classes)]
        weights[:, self.columns, -1] = torch.cat(logs)
        return weights
