"""Check of the labels of a saved result: each dimension has some, of its own type, and no two are equal."""

import numpy as np
import xarray as xr

from headscope.results.vocabulary import BESIDE, BOUNDS, DIMENSIONS, MAPS, SHARES, WHOLE_NUMBERS, WITHOUT_LABELS

# Characters; a path is the longest label.
LONGEST = 5000


def check_labels(result: xr.Dataset) -> None:
    """Raise `ValueError` where a dimension has no labels, labels of another type or range, or two equal ones.

    Coordinates of other names, such as the pattern of each head, have the type and the dimensions of `BESIDE`.
    """
    for dim in map(str, result.dims):
        if dim in result.coords:
            _check_dimension(dim, result[dim].values)
        elif dim not in WITHOUT_LABELS:
            raise ValueError(f"dimension '{dim}' has no labels")
    _check_maps(result)
    for name, array in result.coords.items():
        kind, dims = BESIDE.get(str(name), ("biufU", (name,) if name in DIMENSIONS else array.dims))
        if set(array.dims) != set(dims) & set(result.dims):
            raise ValueError(f"coordinate '{name}' has the dimensions {array.dims}, not {dims}")
        if array.dtype.kind not in kind:
            raise ValueError(f"coordinate '{name}' has values of the type {array.dtype}")
        if array.dtype.kind == "U" and array.size and np.strings.str_len(array.values).max() > LONGEST:
            raise ValueError(f"coordinate '{name}' has a text of more than {LONGEST:,} characters")


def _check_maps(result: xr.Dataset) -> None:
    """Maps of typical inputs are bytes; their tokens and the largest attention of each map stand beside them."""
    if "typical_map" not in result:
        return
    if "typical_token" not in result.coords:
        raise ValueError("the maps of typical inputs have no tokens ('typical_token')")
    if "typical_map_maximum" not in result:
        raise ValueError("the maps of typical inputs have no largest attention ('typical_map_maximum')")
    for name, (kind, dims) in MAPS.items():
        array = result[name]
        if array.dtype.kind != kind or set(array.dims) != set(dims):
            raise ValueError(f"variable '{name}' has values of the type {array.dtype} along {array.dims}, not {dims}")


def _check_dimension(dim: str, labels: np.ndarray) -> None:
    if reason := _misfit(dim, labels):
        raise ValueError(f"labels of dimension '{dim}' are {reason}: {_some(labels)}")
    if len(np.unique(labels)) < len(labels):
        raise ValueError(f"two labels of dimension '{dim}' are equal: {_some(labels)}")


def _misfit(dim: str, labels: np.ndarray) -> str:
    """Why these cannot be labels of a dimension; "" if they can."""
    if dim in SHARES:
        fits = labels.dtype.kind == "f" and ((labels >= 0) & (labels <= 1)).all() and (np.diff(labels) > 0).all()
        return "" if fits else "no shares from 0 to 1 in ascending order"
    if dim in WHOLE_NUMBERS:
        least, most = WHOLE_NUMBERS[dim]
        fits = labels.dtype.kind in "iu" and ((labels >= least) & (labels <= most)).all()
        return "" if fits else f"no whole numbers from {least} to {most}"
    if dim == "bound" and set(labels.tolist()) != set(BOUNDS):
        return f"not {' and '.join(BOUNDS)}"
    return "" if labels.dtype.kind == "U" else "no text"


def _some(labels: np.ndarray) -> str:
    return ", ".join(repr(label)[:40] for label in labels[:5].tolist()) + (", ..." if len(labels) > 5 else "")
