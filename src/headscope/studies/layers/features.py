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
    width, spans = tables[0].shape[1], rows.shape[1]
    made = torch.empty(len(spaces), len(rows), width * (3 if spans == 2 else 1))
    for of_space, space in zip(made, spaces, strict=True):
        for place, column in enumerate(rows.T):
            of_space[:, place * width : (place + 1) * width] = torch.from_numpy(tables[space][column])
        if spans == 2:
            torch.mul(of_space[:, :width], of_space[:, width : 2 * width], out=of_space[:, 2 * width :])
    return made


@dataclass(frozen=True)
class Standard:
    """Mean and standard deviation of each dimension over training cases; a constant has the deviation 1."""

    mean: Float[Tensor, "space 1 dim"]
    deviation: Float[Tensor, "space 1 dim"]

    def __call__(self, raw: Vectors) -> Vectors:
        """Standardise vectors."""
        return (raw - self.mean).div_(self.deviation)


def standard(training: Vectors) -> Standard:
    """The standardisation of some training vectors.

    >>> raw = torch.tensor([[[1.0, 5.0], [3.0, 5.0]]])
    >>> standard(raw)(raw).tolist()
    [[[-1.0, 0.0], [1.0, 0.0]]]
    """
    mean = training.mean(1, keepdim=True)
    deviation = (training - mean).square_().mean(1, keepdim=True).sqrt_()
    # Rounding of half precision is no variance.
    constant = deviation <= 1e-4 * mean.abs()
    return Standard(mean, torch.where(constant, 1.0, deviation))


def outputs(weights: Float[Tensor, "space output dim1"], given: Vectors) -> Float[Tensor, "space output case"]:
    """The values of linear functions whose last weight is the intercept."""
    return torch.baddbmm(weights[..., -1:], weights[..., :-1], given.mT)
