"""Maps that remove a property from states, so that no linear classifier of them reads it any more.

An eraser is that of LEACE (Belrose et al. 2023): of all affine maps after which states and answers do not
covary, the one that changes the states least. It is exact on the states that it is fitted to, in one step, where
iterated null-space projection (Ravfogel et al. 2020) removes the weights of one classifier after the other.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from sklearn.covariance import ledoit_wolf
from torch import Tensor

# Of the largest covariance of whitened states with answers; less is rounding.
ROUNDED = 1e-6


@dataclass(frozen=True)
class Eraser:
    """A map of states: `states - (states - mean) @ read @ write`.

    * `read`, `write`: the directions that are read off, and what is taken away for each.
    """

    mean: Float[Tensor, " width"]
    read: Float[Tensor, "width direction"]
    write: Float[Tensor, "direction width"]

    def __call__(self, states: Float[Tensor, "*token width"]) -> Float[Tensor, "*token width"]:
        """The states without the property."""
        mean, read, write = (part.to(states.device) for part in (self.mean, self.read, self.write))
        return (states - ((states.float() - mean) @ read) @ write).to(states.dtype)

    @property
    def rank(self) -> int:
        """The number of directions that are removed."""
        return len(self.write)


@dataclass(frozen=True)
class Whitening:
    """A scale on which no direction of some states stands out, by their shrunk covariance (Ledoit and Wolf 2004).

    * `whiten`, `colour`: the map of states to this scale, and its inverse.
    """

    states: Float[np.ndarray, "case width"]
    mean: Float[np.ndarray, " width"]
    whiten: Float[np.ndarray, "width width"]
    colour: Float[np.ndarray, "width width"]

    def property(self, answers: Int[np.ndarray, " case"]) -> Eraser:
        """The eraser of a property with classes, numbered from 0, on the states.

        >>> states = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [-1.0, 1.0]])
        >>> eraser = whitening(states).property(np.array([0, 0, 1, 1]))
        >>> eraser.rank, eraser(torch.tensor(states)).round(decimals=3).abs().tolist()
        (1, [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
        """
        classes = np.eye(answers.max() + 1)[answers]
        covariance = self.whiten.T @ (self.states - self.mean).T @ (classes - classes.mean(0)) / len(answers)
        axes, sizes, _ = np.linalg.svd(covariance, full_matrices=False)
        axes = axes[:, sizes > ROUNDED * sizes.max()]
        parts = (self.mean, self.whiten @ axes, axes.T @ self.colour)
        return Eraser(*(torch.from_numpy(part).float() for part in parts))


def whitening(states: Float[np.ndarray, "case width"]) -> Whitening:
    """The scale of some states; dimensions of little variance count as much as others."""
    mean, deviation = states.mean(0), states.std(0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    energy, axes = np.linalg.eigh(ledoit_wolf((states - mean) / deviation)[0])
    energy = np.maximum(energy, ROUNDED * energy.max())
    whiten, colour = ((axes * energy**power) @ axes.T for power in (-0.5, 0.5))
    return Whitening(states, mean, whiten / deviation[:, None], colour * deviation)
