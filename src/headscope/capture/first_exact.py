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
    exact: Computation,
    dtype: torch.dtype,
) -> tuple[Computation, str]:
    """The first computation whose values on a trial are those of the whole one; the whole one if there is none.

    * `makers`: make the computations, the fastest first; one that does not fit the model raises an error.
    * `dtype`: of the network's weights, which says how close values must be.

    Returns: the computation, and why it is not one before; "" if there was none.

    >>> twice, whole = lambda values: 2 * values, lambda values: values + values
    >>> trial = lambda compute: compute(torch.ones(3))
    >>> found, reason = first_exact([lambda: torch.sqrt, lambda: twice], trial, whole, torch.float32)
    >>> found is twice, reason
    (True, 'outputs would differ by 1.0e+00')
    """
    expected, reason = trial(exact), ""
    close = CLOSE[dtype] * max(1.0, float(expected.abs().max()))
    for make in makers:
        try:
            computation = make()
            values = trial(computation)
            furthest = float((values - expected).abs().max())
        except Exception as error:  # layers of some models cannot be called like this, and raise whatever they like
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            continue
        if values.shape == expected.shape and furthest <= close:
            return computation, reason
        reason = f"outputs would differ by {furthest:.1e}"
    return exact, reason
