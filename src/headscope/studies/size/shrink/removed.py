"""How much of each layer stays: as a share of its parts, and of what these add to the states."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from headscope.models.removable_parts import Kept, Numbers
from headscope.results.variables import Variables
from headscope.studies.size.shrink import STUDY
from headscope.studies.size.shrink.original import Original
from headscope.studies.size.shrink.sizes import Size

KEPT = ("neurons", "output_of_neurons", "heads", "output_of_heads")


def variables(original: Original, size: Size, kept: Kept) -> dict[str, xr.DataArray]:
    """`kept_share` by layer: of neurons and heads, and of the variance and the squared length that they add.

    Where layers may differ also `head_stays`.

    * `kept`: the parts that stay.
    """
    stays = np.isin(original.size.layers, size.layers).astype(float)
    neurons = np.array(size.neurons) / original.width if original.width else np.full(len(stays), np.nan)
    heads = np.array(size.heads) / original.heads
    columns = [
        neurons,
        share_added(original.of_neurons, kept.neurons) if kept.neurons else neurons,
        heads,
        share_added(original.of_heads, kept.heads) if kept.heads else heads,
    ]
    made = Variables({"kept": KEPT}, STUDY.source, STUDY.labels)
    made.add("kept_share", np.stack(columns, axis=1) * stays[:, None])
    if original.fine:
        made.add("head_stays", heads_that_stay(original, size, kept).astype(float))
    return made.arrays


def heads_that_stay(original: Original, size: Size, kept: Kept) -> Bool[np.ndarray, "layer head"]:
    """Which heads of the whole model a size keeps.

    * `kept`: the parts that stay.
    """
    numbers = original.model.capture.heads
    stays = np.zeros((len(numbers), max(numbers)), dtype=bool)
    for layer in size.layers:
        stays[layer, list(kept.heads[layer] if kept.heads else range(numbers[layer]))] = True
    return stays


def share_added(values: Sequence[Float[np.ndarray, " part"]], kept: Numbers) -> Float[np.ndarray, " layer"]:
    """The share of the sum of each layer's values that its kept parts have.

    >>> share_added([np.array([1.0, 3.0]), np.array([0.0, 0.0])], ((1,), (0,)))
    array([0.75, 1.  ])
    """
    both = zip(values, kept, strict=True)
    sums = [(float(of_layer[list(some)].sum()), float(of_layer.sum())) for of_layer, some in both]
    return np.array([part / total if total else 1.0 for part, total in sums])
