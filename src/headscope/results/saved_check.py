"""Check of a saved result: its attributes and its labels, as the vocabulary says, and its values."""

import json
import math
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.vocabulary import ATTRIBUTES, BOUNDS, MAPS, attribute_kinds, coordinates, dimensions
from headscope.storage.limits import LARGEST_EXPONENT, LONGEST_WORDS

JSON = {"object": dict, "counts": dict, "list": list}
LARGEST = np.float64(f"1e{LARGEST_EXPONENT}")


def check_attributes(result: xr.Dataset) -> None:
    """Raise `ValueError` for an attribute of another type than the vocabulary says, or text that cannot be shown.

    Numbers are single values, all other attributes of `ATTRIBUTES` text (or none, for a model that is in no file).
    """
    owners = {"": result.attrs} | {
        f" of variable '{name}'": variable.attrs for name, variable in result.variables.items()
    }
    for owner, attributes in owners.items():
        if wrong := [name for name, value in attributes.items() if isinstance(value, str) and not is_unicode(value)]:
            raise ValueError(f"result: attributes {wrong}{owner} are no UTF-8")
        if owner and (
            wrong := [name for name, text in attributes.items() if isinstance(text, str) and len(text) > LONGEST_WORDS]
        ):
            raise ValueError(f"result: attributes {wrong}{owner} have more than {LONGEST_WORDS} characters")
    for name, value in result.attrs.items():
        kind = attribute_kinds().get(str(name), "text" if name in ATTRIBUTES else "")
        if kind == "number" and not _is_number(value):
            raise ValueError(f"result: attribute '{name}' is not a number")
        if kind == "text" and not isinstance(value, str | None):
            raise ValueError(f"result: attribute '{name}' is not text")
        if kind in JSON and not isinstance(_parsed(value), JSON[kind]):
            raise ValueError(f"result: attribute '{name}' is no JSON {'list' if kind == 'list' else 'object'}")
        if kind == "counts" and not all(map(_is_number, _parsed(value).values())):
            raise ValueError(f"result: attribute '{name}' has values that are no numbers")


def is_unicode(text: str) -> bool:
    """Whether a text can be written: bytes that are not UTF-8 are read as lone surrogates, which cannot.

    >>> is_unicode("é"), is_unicode("\\udcff")
    (True, False)
    """
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _parsed(value: Any) -> Any:
    """The value that a text has as JSON; None for anything else."""
    try:
        return json.loads(value)
    except (ValueError, TypeError, RecursionError):
        return None


def _is_number(value: Any) -> bool:
    """Whether an attribute is a number, or a text that is one."""
    try:
        return isinstance(value, str | int | float | np.integer | np.floating) and 0 <= float(value) < math.inf
    except (ValueError, OverflowError):
        return False


def check_labels(result: xr.Dataset) -> None:
    """Raise `ValueError` where a dimension has no labels, labels of another type or range, or two equal ones.

    Coordinates of other names, such as the pattern of each head, have the type and the dimensions of `coordinates`.
    """
    for dim in map(str, result.dims):
        if dim in result.coords:
            _check_dimension(dim, result[dim].values)
        elif dim not in ("typical_query", "typical_key"):  # earlier versions gave them none
            raise ValueError(f"dimension '{dim}' has no labels")
    _check_maps(result)
    for name, array in result.coords.items():
        kind, dims = coordinates().get(str(name), ("biufU", (name,) if name in dimensions() else array.dims))
        if set(array.dims) != set(dims) & set(result.dims):
            raise ValueError(f"coordinate '{name}' has the dimensions {array.dims}, not {dims}")
        if array.dtype.kind not in kind:
            raise ValueError(f"coordinate '{name}' has values of the type {array.dtype}")
        if array.dtype.kind == "U" and array.size and np.strings.str_len(array.values).max() > LONGEST_WORDS:
            raise ValueError(f"coordinate '{name}' has a text of more than {LONGEST_WORDS:,} characters")


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
    kind, numbers = dimensions()[dim], labels.dtype.kind == "f"
    if kind.labels == "share":
        fits = numbers and ((labels >= 0) & (labels <= 1)).all() and (np.diff(labels) > 0).all()
        return "" if fits else "no shares from 0 to 1 in ascending order"
    if kind.labels == "step":
        fits = numbers and (np.abs(labels) <= LARGEST).all() and (np.diff(labels) > 0).all()
        return "" if fits else "no numbers in ascending order"
    if kind.labels == "whole":
        fits = labels.dtype.kind in "iu" and ((labels >= kind.least) & (labels <= kind.most)).all()
        return "" if fits else f"no whole numbers from {kind.least} to {kind.most}"
    if dim == "bound" and set(labels.tolist()) != set(BOUNDS):
        return f"not {' and '.join(BOUNDS)}"
    return "" if labels.dtype.kind == "U" else "no text"


def _some(labels: np.ndarray) -> str:
    return ", ".join(repr(label)[:40] for label in labels[:5].tolist()) + (", ..." if len(labels) > 5 else "")


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
