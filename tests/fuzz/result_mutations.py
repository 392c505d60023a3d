"""Seeded mutations of saved results: of bytes, or of values, attributes and labels in a file that stays whole."""

import io
from collections.abc import Callable
from contextlib import suppress
from random import Random

import h5py
import numpy as np

from fuzz.mutations import flip
from support.stored_variable import stored

NUMBERS = (np.inf, -np.inf, np.nan, 1e300, -1e300, 1e38, -1.0, 0.0, 5e-324)
TEXTS = (
    *(b"", b"\xff\xfe", b"a\nb", b"a\r\nb", b"\x1b[31mred", b"a\0b", "a\u2028b".encode(), "\u202ea".encode()),
    *(b"<script>", b'"', b"{", b"{}", b"[]", b"-5", b"x" * 2**20),
)  # fmt: skip
LABELS = ("long_name", "units", "source")


def mutate_result(content: bytes, random: Random) -> bytes:
    """Flip bytes of a saved result, or change one to four of its values, attributes and labels."""
    if random.random() < 0.25:
        return flip(content, random)
    file = io.BytesIO(content)
    with h5py.File(file, "a") as result:
        for _ in range(random.choice((1, 1, 2, 4))):
            # what does not fit, such as a longer text in a field of fixed length, changes nothing
            with suppress(KeyError, ValueError, TypeError, OSError, RuntimeError), np.errstate(all="ignore"):
                random.choice(MUTATIONS)(result, random)
    return file.getvalue()


def _named(result: h5py.File, kind: str) -> list[str]:
    return [name for name in map(str, result) if stored(result, name).dtype.kind == kind]


def _change_values(result: h5py.File, random: Random) -> None:
    """Give one value of a variable, or all of them, another number."""
    variable = stored(result, random.choice(_named(result, "f")))
    values, number = np.array(variable[...]), random.choice(NUMBERS)
    if random.random() < 0.5 or not values.ndim:
        values[...] = number
    else:
        values.flat[random.randrange(values.size)] = number
    variable[...] = values


def _change_label(result: h5py.File, random: Random) -> None:
    variable = stored(result, random.choice(_named(result, "O")))
    values = variable[...]
    values.flat[random.randrange(values.size)] = random.choice(TEXTS)
    variable[...] = values


def _change_words(result: h5py.File, random: Random) -> None:
    _set(stored(result, random.choice(list(result))), random.choice(LABELS), random)


def _change_attribute(result: h5py.File, random: Random) -> None:
    _set(result, random.choice(list(result.attrs)), random)


def _set(owner: h5py.File | h5py.Dataset, name: str, random: Random) -> None:
    text = random.choice(TEXTS)
    if random.random() < 0.2:
        owner.attrs[name] = random.choice(NUMBERS)
    else:
        # a text of fixed length may hold bytes that are no UTF-8
        fixed = h5py.string_dtype("utf-8", max(1, len(text)))
        owner.attrs.create(name, text, dtype=random.choice((fixed, h5py.string_dtype(), h5py.string_dtype("ascii"))))


def _drop_words(result: h5py.File, random: Random) -> None:
    del result[random.choice(list(result))].attrs[random.choice(LABELS)]


def _drop_attribute(result: h5py.File, random: Random) -> None:
    del result.attrs[random.choice(list(result.attrs))]


def _drop_variable(result: h5py.File, random: Random) -> None:
    del result[random.choice(list(result))]


MUTATIONS: tuple[Callable[[h5py.File, Random], None], ...] = (
    *(_change_values, _change_values, _change_values, _change_label, _change_words, _change_attribute),
    *(_drop_words, _drop_attribute, _drop_variable),
)  # fmt: skip
