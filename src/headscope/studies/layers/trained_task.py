"""Settings of classifiers, the vectors that they read, and their outcome."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headscope.studies.layers.features import Vectors


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
      knowing nothing: 1, or the squared distance from the mean of the training values.
    * `choice`: the score on the cases for choices; `penalty`: the chosen one.
    * `code`: length of the online code of the training answers in bits, NaN for values; `uniform`: without training.
    """

    loss: Float[np.ndarray, "case space"]
    base: Float[np.ndarray, " case"]
    choice: Float[np.ndarray, " space"]
    penalty: Float[np.ndarray, " space"]
    code: Float[np.ndarray, " space"]
    uniform: float
