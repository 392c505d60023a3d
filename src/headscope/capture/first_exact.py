"""The choice of the fastest computation that is exact for a model."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import torch
from torch import Tensor

from headscope.capture.self_check import CLOSE

Computation = TypeVar("Computation")


def first_exact(
    makers: Iterable[Callable[[], Computation]],
    trial: Callable[[Computation], Tensor],
    whole: Computation,
    dtype: torch.dtype,
) -> Computation:
    """The first computation whose values on a trial are those of the whole one; the whole one if there is none.

    * `makers`: make the computations, the fastest first; one that does not fit the model raises an error.
    * `dtype`: of the network's weights, which says how close values must be.

    >>> twice = lambda values: 2 * values
    >>> trial = lambda compute: compute(torch.ones(3))
    >>> first_exact([lambda: torch.sqrt, lambda: twice], trial, lambda values: values + values, torch.float32) is twice
    True
    """
    expected = trial(whole)
    close = CLOSE[dtype] * max(1.0, float(expected.abs().max()))
    for make in makers:
        try:
            computation = make()
            values = trial(computation)
        except Exception:  # layers of some models cannot be called like this, and raise whatever they like
            continue
        if values.shape == expected.shape and bool((values - expected).abs().max() <= close):
            return computation
    return whole
