"""Messages come back to the bit; damaged and forged ones are no records."""

import json
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from headscope.cluster.messages import LENGTH, PLACE, message_of, record_of
from headscope.storage.codec import decode, encode

ARRAYS = {"a": np.eye(3)[:, 1:], "b": np.array(["é", ""]), "c": np.zeros((0, 2), np.uint8), "d": np.array(True)}


def test_arrays_come_back_to_the_bit() -> None:
    record = record_of(message_of({"value": [encode(ARRAYS), encode(np.arange(4.0))], "size": 1}))
    assert record is not None and record["size"] == 1
    arrays, last = decode(record["value"][0], dict[str, np.ndarray]), decode(record["value"][1], np.ndarray)
    for name, array in [*ARRAYS.items(), ("last", np.arange(4.0))]:
        back = arrays.get(name, last)
        assert back.dtype == array.dtype and back.shape == array.shape and back.tobytes() == array.tobytes()
    last += 1  # arrays may be written to


def test_a_damaged_message_is_none() -> None:
    message = message_of({"value": encode(ARRAYS)})
    for place in range(0, len(message), 7):
        changed = bytearray(message)
        changed[place] ^= 1
        assert record_of(bytes(changed)) is None and record_of(message[:place]) is None


@pytest.mark.parametrize("place", [[0], [0, 10**9], [-9, 0], "ab", [0, 8, 0], None, [[], 1], [0.5, 1]])
def test_a_forged_place_is_no_array(place: Any) -> None:
    text = json.dumps({"value": {"dtype": "<f8", "shape": [1], "data": {PLACE: place}}}).encode()
    body = len(text).to_bytes(LENGTH) + text + bytes(16)
    record = record_of(sha256(body).digest() + body)
    if record is not None:
        with pytest.raises(ValueError):
            decode(record["value"], np.ndarray)
