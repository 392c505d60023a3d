"""Vectors of cases as classifiers read them: joined for pairs, standardised, with principal axes; and their outcome."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headscope.studies.layers.layers.groups import ABSENT

Vectors = Float[Tensor, "space case dim"]
Weights = Float[Tensor, "space column dim1"]
MOST_AXES = 128


def vectors(
    tables: Sequence[Float[np.ndarray, "row width"]], rows: Int[np.ndarray, "case span"], spaces: Sequence[int]
) -> Vectors:
    """The vectors of cases in some spaces.

    Those of two spans are a, b and their product by elements (Liu et al. 2019, section 3).

    >>> vectors([np.array([[1.0, 2.0], [3.0, 4.0]])], np.array([[0, 1]]), [0]).tolist()
    [[[1.0, 2.0, 3.0, 4.0, 3.0, 8.0]]]
    """
    width, spans = tables[0].shape[1], rows.shape[1]
    joined = torch.empty(len(spaces), len(rows), width * (3 if spans == 2 else 1))
    for space_vectors, space in zip(joined, spaces, strict=True):
        for number, column in enumerate(rows.T):
            space_vectors[:, number * width : (number + 1) * width] = torch.from_numpy(tables[space][column])
        if spans == 2:
            torch.mul(space_vectors[:, :width], space_vectors[:, width : 2 * width], out=space_vectors[:, 2 * width :])
    return joined


@dataclass(frozen=True)
class Standard:
    """Mean and standard deviation of each dimension over training cases; a constant has the deviation 1."""

    mean: Float[Tensor, "space 1 dim"]
    deviation: Float[Tensor, "space 1 dim"]

    def __call__(self, raw: Vectors) -> Vectors:
        """Standardise vectors."""
        return (raw - self.mean).div_(self.deviation)


def standard(training: Vectors) -> Standard:
    """The standardisation of training vectors.

    >>> raw = torch.tensor([[[1.0, 5.0], [3.0, 5.0]]])
    >>> standard(raw)(raw).tolist()
    [[[-1.0, 0.0], [1.0, 0.0]]]
    """
    mean = training.mean(1, keepdim=True)
    deviation = (training - mean).square_().mean(1, keepdim=True).sqrt_()
    # Rounding of half precision is no variance.
    constant = deviation <= 1e-4 * mean.abs()
    return Standard(mean, torch.where(constant, 1.0, deviation))


def outputs(weights: Float[Tensor, "space output dim1"], vectors: Vectors) -> Float[Tensor, "space output case"]:
    """The values of linear functions whose last weight is the intercept."""
    return torch.baddbmm(weights[..., -1:], weights[..., :-1], vectors.mT)


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
        right = torch.cat([classes == answers[task] for classes, task in zip(of_classes, order, strict=True)]).to(
            vectors
        )
        self.sums = right @ self.vectors  # [space, column, dim1]
        self.counts = right.sum(1)

    def shares(self) -> Weights:
        """Intercepts that give each class its share of the cases, one added."""
        weights = torch.zeros_like(self.sums)
        logs = [counts.log() - counts.log().mean() for counts in (self.counts + 1).split(self.classes)]
        weights[:, self.columns, -1] = torch.cat(logs)
        return weights


@dataclass(frozen=True)
class PrincipalAxes:
    """Orthogonal axes in each space, and mean squares of vectors: `energy` along each axis, `rest` along all others."""

    axes: Float[Tensor, "space dim axis"]
    energy: Float[Tensor, "space 1 axis"]
    rest: Float[Tensor, "space 1 1"]

    def divide(
        self, slope: Float[Tensor, "space column dim"], spread: Float[Tensor, "space column 1"], penalty: float | Tensor
    ) -> Float[Tensor, "space column dim"]:
        """Divide what lies along each axis by the spread times its energy plus the penalty."""
        along, across = slope @ self.axes, 1 / (spread * self.rest + penalty)
        more = 1 / (spread * self.energy + penalty) - across
        return torch.baddbmm(slope * across, along * more, self.axes.mT)


def principal_axes(vectors: Vectors, most: int = MOST_AXES) -> PrincipalAxes:
    """Find the longest principal axes of centred vectors, about, by a random sketch (Halko et al. 2011, section 4.5).

    >>> given = torch.tensor([[[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]])
    >>> principal_axes(given).energy.round(decimals=3).tolist()
    [[[0.5, 4.5]]]
    """
    cases, dims = vectors.shape[1:]
    sketch = torch.randn(dims, min(most, dims), generator=torch.Generator().manual_seed(0)).to(vectors)
    basis = torch.linalg.qr(vectors.mT @ (vectors @ sketch)).Q
    along = vectors @ basis
    energy, turn = torch.linalg.eigh(along.mT @ along / cases)
    energy = energy.clamp_min(0)[:, None]  # [space, 1, axis]
    total = vectors.square().sum((1, 2))[:, None, None] / cases
    rest = (total - energy.sum(-1, keepdim=True)).clamp_min(0) / max(1, dims - basis.shape[-1])
    return PrincipalAxes(basis @ turn, energy, rest)


@dataclass(frozen=True)
class ClassifierSettings:
    """Settings of classifiers.

    * `penalties`: half of each is the cost of a sum of squares of weights; of several, the best on cases for choices.
    * `tolerance`, `most_steps`: ends of the search for the weights, see `fit_logistic`.
    * `codes`: also measure the online code.
    """

    penalties: tuple[float, ...]
    tolerance: float = 2e-4
    most_steps: int = 100
    codes: bool = True


@dataclass(frozen=True)
class GroupVectors:
    """Standardised vectors of a group by part, in some spaces."""

    train: Vectors
    choose: Vectors
    report: Vectors


@dataclass(frozen=True)
class TrainedTask:
    """The outcome of one task in all spaces.

    * `loss`: of each case of the report, 1 where a class is wrong, the squared error of a value; `base` is that of
      knowing nothing: 1, or the squared distance from the mean of the training values; of sets see `train.f1_parts`.
    * `choice`: the score on the cases for choices; `penalty`: the chosen one.
    * `code`: length of the online code of the training answers in bits, NaN for values; `uniform`: without training.
    """

    loss: Float[np.ndarray, "case space"]
    base: Float[np.ndarray, " case"] | Float[np.ndarray, "case space"]
    choice: Float[np.ndarray, " space"]
    penalty: Float[np.ndarray, " space"]
    code: Float[np.ndarray, " space"]
    uniform: float
