"""Values as JSON and back: arrays, frozen dataclasses, lists, tuples, mappings, text and numbers.

Types are never read from a file: the caller names the type, and whatever does not fit it is refused.
"""

import re
import types
from base64 import b64decode
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from jaxtyping import AbstractArray, jaxtyped

Json = Any
SCALARS = (bool, int, float)
KINDS = "biufU"  # of arrays: numbers, truth values and text
INTEGERS = range(-(2**63), 2**64)  # of numpy, signed and unsigned
DTYPE = re.compile(rf"[<>|=][{KINDS}]\d{{1,9}}")


def encode(value: Any) -> Json:
    """A value as lists, mappings, text and numbers of JSON; the content of an array is bytes.

    Raises `TypeError` for any other value.
    """
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in KINDS:
        return {"dtype": value.dtype.str, "shape": list(value.shape), "data": value.tobytes()}
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return [[encode(key), encode(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return list(map(encode, value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be kept in a journal")


def decode(json: Json, kind: Any) -> Any:
    """The value of a type, such as `dict[str, Tally]`.

    Raises `ValueError` where the JSON is no such value.

    >>> decode(encode({"a": (1, np.eye(2))}), dict[str, tuple[int, np.ndarray]])
    {'a': (1, array([[1., 0.],
           [0., 1.]]))}
    """
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return None if json is None else _first(json, [part for part in parts if part is not types.NoneType])
    if origin is np.ndarray or (isinstance(origin, type) and issubclass(origin, AbstractArray)):
        return _array(json, origin)
    if isinstance(origin, type) and is_dataclass(origin):
        return _dataclass(json, origin, parts)
    if origin in (list, tuple):
        return origin(_items(json, parts))
    if origin is Counter:
        return Counter(decode(json, dict[parts[0], int]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict(_items(pair, parts) for pair in _of(json, list))
    if origin in SCALARS and isinstance(json, dict):  # numpy's own are written as arrays
        json = decode_array(json).item()
    return _of(json, origin)


def _first(json: Json, kinds: list[Any]) -> Any:
    """The value of the first of some types that fits."""
    for kind in kinds[:-1]:
        with suppress(ValueError):
            return decode(json, kind)
    return decode(json, kinds[-1])


def decode_array(json: Json) -> np.ndarray:
    """The array of `encode`, which may be written to. Raises `ValueError` where the JSON is no array."""
    try:
        name, data = _of(json["dtype"], str), json["data"]
        if not DTYPE.fullmatch(name):
            raise ValueError(f"arrays of {name[:40]} hold neither numbers nor text")
        content = data if isinstance(data, bytes | memoryview) else b64decode(data, validate=True)
        return np.frombuffer(content, np.dtype(name)).reshape(_of(json["shape"], list)).copy()
    except (LookupError, TypeError) as error:
        raise ValueError(f"no array: {error}") from error


def _array(json: Json, kind: Any) -> np.ndarray:
    array = decode_array(json)
    if not isinstance(array, kind):
        raise ValueError(f"an array [{array.ndim} axes, {array.dtype}] is no {kind.__name__}")
    return array if array.ndim else array[()]


def _dataclass(json: Json, kind: type, parts: tuple[Any, ...]) -> Any:
    generic = dict(zip(getattr(kind, "__parameters__", ()), parts, strict=False))
    hints, values = get_type_hints(kind), _of(json, dict)
    if values.keys() != {field.name for field in fields(kind)}:
        raise ValueError(f"the fields of {kind.__name__} are not {', '.join(map(str, values))}")
    with jaxtyped("context"):  # an axis has one size in all arrays of a value
        return kind(**{name: decode(item, generic.get(hints[name], hints[name])) for name, item in values.items()})


def _items(json: Json, parts: tuple[Any, ...]) -> list[Any]:
    """The items of a list or a tuple; `parts` are the arguments of its type."""
    items = _of(json, list)
    kinds = [parts[0]] * len(items) if len(parts) == 1 or parts[1:] == (...,) else parts
    return [decode(item, kind) for item, kind in zip(items, kinds, strict=True)]


def _of(json: Json, kind: type) -> Any:
    if kind is int and type(json) is int and json not in INTEGERS:
        raise ValueError(f"an integer of {json.bit_length()} bits instead of one of 64")
    if type(json) is kind or (kind is float and type(json) is int):
        return kind(json)
    raise ValueError(f"{type(json).__name__} instead of {kind.__name__}")
