"""Two groups of cases within each input, such as words to which something applies and others: paired means."""

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from headscope.statistics.bootstrap import Tally, tally_by_input

# Columns of `paired_means`.
GROUPS = ("inside", "outside", "difference")


def paired_means(
    values: Float[np.ndarray, " case"],
    inside: Bool[np.ndarray, " case"],
    inputs: Int[np.ndarray, " case"],
    draws: Float[np.ndarray, "resample input"] | UInt8[np.ndarray, "resample input"],
) -> Tally:
    """Means of the cases inside and outside a group, and outside minus inside, over inputs with both.

    Each input weighs the same; inputs of one group alone are left out.

    >>> values, inputs = np.array([0.25, 0.75, 0.5]), np.array([0, 0, 1])
    >>> paired_means(values, np.array([True, False, True]), inputs, np.ones((2, 2))).mean.tolist()
    [0.25, 0.75, 0.5]
    """
    number = int(inputs.max(initial=-1)) + 1
    counts, sums = (
        np.stack([np.bincount(inputs[group], weights[group], number) for group in (inside, ~inside)], axis=1)
        for weights in (np.ones(len(values)), values.astype(np.float64))
    )
    both = np.flatnonzero((counts > 0).all(1))
    means = sums[both] / counts[both]
    return tally_by_input(np.column_stack([means, means[:, 1] - means[:, 0]]), both, draws)
