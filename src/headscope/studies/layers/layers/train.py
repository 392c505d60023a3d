"""Training of the classifiers of a group of tasks, in all spaces and with all penalties; values by ridge regression.

Where answers are sets of labels there is a classifier of each label, and one score of all, the micro-averaged F1: so do
Tenney et al. 2019 score spans with several labels. F1 is one minus the decisions that are wrong, divided by the labels
that are given and those that are right.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.studies.layers.layers.features import (
    ClassifierSettings,
    GroupVectors,
    TrainedTask,
    Vectors,
    outputs,
    standard,
    vectors,
)
from headscope.studies.layers.layers.groups import Answers, CaseGroup
from headscope.studies.layers.layers.texts import PARTS
from headscope.studies.layers.layers.train_classes import train_classes

# Bytes of the vectors of a group that are trained on at once, on a processor and on a GPU: spaces that search together
# need fewer steps than spaces in turn, until their products leave the cache far behind.
CACHE, GPU_MEMORY = 40_000_000, 1_000_000_000
Losses = Float[np.ndarray, "case space"]

# Numbers of the matrices of some spaces that are solved together, in several copies.
CELLS = 1 << 22


def train(
    group: CaseGroup,
    tables: Sequence[np.ndarray],
    settings: ClassifierSettings,
    device: torch.device,
    done: Callable[[int], None] = lambda spaces: None,
) -> list[TrainedTask]:
    """Train the classifiers of all tasks of a group in all spaces; `done` receives numbers of spaces."""
    rows = group.units["train"]
    dims = tables[0].shape[1] * (3 if rows.shape[1] == 2 else 1)
    block = CACHE if device.type == "cpu" else GPU_MEMORY
    most = max(1, block // max(1, 4 * dims * len(rows)))
    blocks = [range(first, min(first + most, len(tables))) for first in range(0, len(tables), most)]
    trained: list[list[TrainedTask]] = []
    for spaces in blocks:
        by_part = {part: vectors(tables, group.units[part], spaces).to(device) for part in PARTS}
        scale = standard(by_part["train"])
        vectors_of_group = GroupVectors(*(scale(by_part.pop(part)) for part in PARTS))
        train_tasks = train_classes if group.answers[0].classes else train_values
        trained.append(train_tasks(group, vectors_of_group, settings))
        done(len(spaces))
    return [_joined(parts) for parts in zip(*trained, strict=True)]


def _joined(blocks: Sequence[TrainedTask]) -> TrainedTask:
    """One task of several blocks of spaces."""
    arrays = {
        name: np.concatenate([getattr(block, name) for block in blocks], axis=-1)
        for name in ("loss", "choice", "penalty", "code")
    }
    return TrainedTask(base=blocks[0].base, uniform=blocks[0].uniform, **arrays)


def train_values(group: CaseGroup, vectors: GroupVectors, settings: ClassifierSettings) -> list[TrainedTask]:
    """Train on the values of a group, which has one task."""
    (answers,) = group.answers
    right = {part: torch.from_numpy(answers.numbers[part]).to(vectors.choose) for part in PARTS}
    centre = right["train"].mean()
    weights = ridge(vectors.train, right["train"] - centre, settings.penalties)  # [space, penalty, dim]
    errors = {
        part: (outputs(weights, cases) + centre - right[part]).square()
        for part, cases in (("choose", vectors.choose), ("report", vectors.report))
    }
    base = {part: (right[part] - centre).square() for part in PARTS}
    best = errors["choose"].mean(-1).argmin(1)  # [space]
    spaces = torch.arange(len(best), device=best.device)
    choice = 1 - errors["choose"][spaces, best].sum(-1) / base["choose"].sum()
    loss = errors["report"][spaces, best].T
    return [
        TrainedTask(
            loss.double().cpu().numpy(),
            base["report"].double().cpu().numpy(),
            choice.cpu().numpy(),
            np.array(settings.penalties)[best.cpu().numpy()],
            np.full(len(best), np.nan),
            np.nan,
        )
    ]


def ridge(
    vectors: Vectors, values: Float[Tensor, " case"], penalties: Sequence[float]
) -> Float[Tensor, "space penalty dim1"]:
    """Weights of linear regressions on centred vectors; the last is the intercept, without a penalty.

    * `penalties`: half of each is the cost of the sum of squares of the weights, beside half of the squared errors.
    """
    together = max(1, CELLS // vectors.shape[-1] ** 2)
    if len(vectors) > together:
        return torch.cat([ridge(part, values, penalties) for part in vectors.split(together)])
    gram, products = vectors.mT @ vectors, (values @ vectors)[..., None]  # [space, dim, 1]
    added = torch.eye(gram.shape[-1]).to(gram)
    solutions = [
        torch.cholesky_solve(products, torch.linalg.cholesky(gram + penalty * added))[..., 0] for penalty in penalties
    ]
    weights = torch.stack(solutions, dim=1)  # [space, penalty, dim]
    return torch.cat([weights, values.mean().expand(*weights.shape[:2], 1)], dim=-1)


def f1_parts(answers: Sequence[Answers], wrong: Sequence[Losses]) -> tuple[Losses, Losses]:
    """The parts of F1: one minus the sum of the first over cases, divided by that of the second.

    * `wrong`: of each label, 1 for each case where the classifier is wrong.

    Returns: the number of wrong decisions of each case, and that of labels given and labels right.

    >>> gold = [Answers("task", 2, {"report": np.array(labels)}, label="x") for labels in ([1, 0], [1, 1])]
    >>> loss, base = f1_parts(gold, [np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]])])
    >>> (1 - loss.sum() / base.sum()).item()  # 2 labels right, 1 missing: 2 * 2 / (2 + 3)
    0.8
    """
    gold = [labels.numbers["report"][labels.present("report"), None] for labels in answers]
    predicted = [np.abs(right - errors) for right, errors in zip(gold, wrong, strict=True)]
    return np.sum(wrong, axis=0), np.sum(gold, axis=0) + np.sum(predicted, axis=0)


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
