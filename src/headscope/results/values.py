"""Check of the values of a saved result: text, or numbers that can be added and drawn; NaN is a missing value."""

import numpy as np
import xarray as xr

from headscope.results.attributes import is_unicode

# No measure comes near it, and the squares of such numbers can still be added up.
LARGEST = np.float64(1e100)


def check_values(result: xr.Dataset) -> xr.Dataset:
    """Return the result if its values are text or numbers between -LARGEST and LARGEST; NaN is a missing value.

    Raises `ValueError` that names the variable, the value and its place.
    """
    for name, array in result.variables.items():
        if array.dtype.kind not in "biufU":
            raise ValueError(f"variable '{name}' has values of the type {array.dtype}")
        wrong = _wrong(array.values)
        if wrong.any():
            at = np.unravel_index(int(wrong.argmax()), wrong.shape)
            cell = ", ".join(f"{dim} {number + 1}" for dim, number in zip(array.dims, at, strict=True))
            reason = "no UTF-8" if array.dtype.kind == "U" else f"not between {-LARGEST:g} and {LARGEST:g}"
            raise ValueError(f"variable '{name}' is {reason}: {array.values[at]!r}{cell and f' ({cell})'}")
    return result


def _wrong(values: np.ndarray) -> np.ndarray:
    """Where values can be neither written nor drawn."""
    if values.dtype.kind == "U":
        return np.vectorize(lambda text: not is_unicode(text), otypes=[bool])(values)
    return np.abs(values) > LARGEST if values.dtype.kind == "f" else np.zeros((), bool)
