"""Values come back to the bit, and nothing is made but the type that was named."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import (
    array_shapes,
    arrays,
    boolean_dtypes,
    floating_dtypes,
    integer_dtypes,
    unicode_string_dtypes,
)
from jaxtyping import Float

from headscope.storage.codec import decode, encode
from headscope.storage.lines import line_of, record_of

many = settings(max_examples=60, deadline=None, derandomize=True, database=None)
DTYPES = st.one_of(
    boolean_dtypes(), *(dtypes(endianness="=") for dtypes in (integer_dtypes, floating_dtypes, unicode_string_dtypes))
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@dataclass(frozen=True)
class Inner:
    values: Float[np.ndarray, "row column"]
    name: str | None = None


@dataclass(frozen=True)
class Outer:
    parts: dict[tuple[int, str], Inner]
    counts: Counter[str]
    pairs: list[tuple[int, float]]


VALUE = Outer(
    {(1, "é"): Inner(np.eye(2)), (2, ""): Inner(np.zeros((0, 3)), "a")}, Counter(a=2), [(1, 0.1), (2, np.inf)]
)


@many
@given(arrays(DTYPES, array_shapes(min_dims=1, min_side=0, max_side=3)))
def test_arrays_come_back_to_the_bit(array: np.ndarray) -> None:
    record = record_of(line_of({"value": encode(array)}))
    assert record is not None
    back = decode(record["value"], np.ndarray)
    assert back.dtype == array.dtype and back.shape == array.shape and back.tobytes() == array.tobytes()


@pytest.mark.parametrize("number", [np.int64(3), np.float32(0.1), np.array(2.5)])
def test_numbers_come_back_to_the_bit(number: np.ndarray) -> None:
    back = decode(encode(number), np.ndarray)
    assert back.dtype == number.dtype and back.shape == () and back.tobytes() == number.tobytes()


def test_dataclasses_come_back() -> None:
    back = decode(encode(VALUE), Outer)
    assert encode(back) == encode(VALUE) and isinstance(back.counts, Counter)
    assert list(back.parts) == list(VALUE.parts) and back.pairs == VALUE.pairs


@many
@given(JSON)
def test_other_json_is_refused(json: Any) -> None:
    with pytest.raises(ValueError):
        decode(json, Outer)


@pytest.mark.parametrize(
    "array",
    [
        {"dtype": "O", "shape": [1], "data": "AAAAAAAAAAA="},
        {"dtype": "9" * 5000, "shape": [1], "data": ""},
        {"dtype": "<f8", "shape": [2, 2], "data": "AAAA"},
        {"dtype": "<f8", "shape": [10**12, 10**12], "data": ""},
        {"dtype": "<f8", "shape": "ab", "data": ""},
        {"dtype": "<i8", "shape": [0, 0], "data": ""},
        {"dtype": "<f8", "shape": [0], "data": ""},
    ],
)
def test_arrays_of_another_type_or_shape_are_refused(array: Any) -> None:
    with pytest.raises(ValueError):
        decode({"values": array, "name": None}, Inner)


def test_values_of_other_types_are_not_written() -> None:
    for value in (object(), np.array([object()]), {"a": {1}}):
        with pytest.raises(TypeError, match="cannot be kept in a journal"):
            encode(value)
