"""Vectors of cases as classifiers read them: joined for pairs, standardised by the training cases."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

Vectors = Float[Tensor, "space case dim"]


def vectors(
    tables: Sequence[Float[np.ndarray, "row width"]], rows: Int[np.ndarray, "case span"], spaces: Sequence[int]
) -> Vectors:
    """The vectors of cases in some spaces.

    Those of two spans are a, b and their product by elements (Liu et al. 2019, section 3).

    >>> vectors([np.array([[1.0, 2.0], [3.0, 4.0]])], np.array([[0, 1]]), [0]).tolist()
    [[[1.0, 2.0, 3.0, 4.0, 3.0, 8.0]]]
    """
    made = []
    for space in spaces:
        of_spans = [torch.from_numpy(tables[space][column].astype(np.float32)) for column in rows.T]
        if len(of_spans) == 2:
            of_spans.append(of_spans[0] * of_spans[1])
        made.append(torch.cat(of_spans, dim=-1))
    return torch.stack(made)


@dataclass(frozen=True)
class Standard:
    """Mean and standard deviation of each dimension over training cases; a constant has the deviation 1."""

    mean: Float[Tensor, "space 1 dim"]
    deviation: Float[Tensor, "space 1 dim"]

    def __call__(self, raw: Vectors) -> Vectors:
        """Standardise vectors."""
        return (raw - self.mean) / self.deviation


def standard(training: Vectors) -> Standard:
    """The standardisation of some training vectors.

    >>> raw = torch.tensor([[[1.0, 5.0], [3.0, 5.0]]])
    >>> standard(raw)(raw).tolist()
    [[[-1.0, 0.0], [1.0, 0.0]]]
    """
    deviation = training.std(1, correction=0, keepdim=True)
    # Rounding of half precision is no variance.
    constant = deviation <= 1e-4 * training.abs().amax(1, keepdim=True)
    return Standard(training.mean(1, keepdim=True), torch.where(constant, 1.0, deviation))


@dataclass(frozen=True)
class Rotated:
    """Training vectors rotated to their principal axes, with a dimension of ones at the end.

    * `axes`: the rotation; `energy`: the sum of squares of each dimension.
    """

    values: Vectors
    axes: Float[Tensor, "space dim axis"]
    energy: Float[Tensor, "space axis1"]

    def back(self, weights: Float[Tensor, "space output axis1"]) -> Float[Tensor, "space output dim1"]:
        """Weights for vectors that are not rotated; the last is the intercept."""
        return torch.cat([weights[..., :-1] @ self.axes.mT, weights[..., -1:]], dim=-1)

    def forth(self, weights: Float[Tensor, "space output dim1"]) -> Float[Tensor, "space output axis1"]:
        """Weights for these vectors, the reverse of `back`; what is across all axes is left out."""
        return torch.cat([weights[..., :-1] @ self.axes, weights[..., -1:]], dim=-1)

    def first(self, cases: int) -> "Rotated":
        """The first cases, on the same axes."""
        return Rotated(self.values[:, :cases], self.axes, self.energy * (cases / self.values.shape[1]))


def rotated(training: Vectors) -> Rotated:
    """Rotate standardised vectors to their principal axes: there the Hessian of a classifier is near diagonal.

    There are as many axes as cases, if these are fewer than dimensions.
    """
    if training.shape[1] < training.shape[2]:
        energy, of_cases = torch.linalg.eigh(training @ training.mT)
        lengths = energy.clamp_min(1e-6 * energy.amax(-1, keepdim=True).clamp_min(1e-30)).rsqrt()
        axes = training.mT @ (of_cases * lengths[:, None])
    else:
        energy, axes = torch.linalg.eigh(training.mT @ training)
    ones = training.new_ones(*training.shape[:2], 1)
    count = training.new_full((len(training), 1), training.shape[1])
    return Rotated(torch.cat([training @ axes, ones], dim=-1), axes, torch.cat([energy.clamp_min(0), count], dim=-1))


def outputs(weights: Float[Tensor, "space output dim1"], given: Vectors) -> Float[Tensor, "space output case"]:
    """The values of linear functions whose last weight is the intercept."""
    return torch.baddbmm(weights[..., -1:], weights[..., :-1], given.mT)
