"""JSON, read strictly."""

import json
from collections.abc import Iterable
from math import isinf
from typing import Any

from headscope.corpora.parsing.limits import MOST_COLUMNS, MOST_DIGITS


class Number(str):
    """A number as it is written: 5 and 5.0 are two labels, and neither is a text."""

    def __str__(self) -> str:
        return self[:]


def parse(text: str, *, as_written: bool = False) -> Any:
    """Parse one JSON value; with `as_written`, numbers become `Number`.

    Raises `ValueError`, in one line, also for what `json` accepts: NaN and infinities, written so or as 1e999, a field
    that comes twice, half of a surrogate pair; and for nesting and numbers without end.

    >>> parse('{"stars": 5.0}', as_written=True)
    {'stars': '5.0'}
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the field 'a' comes twice
    """
    kinds = (Number, _written_number) if as_written else (_integer, _number)
    try:
        value = json.loads(
            text, parse_int=kinds[0], parse_float=kinds[1], parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from error
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if "\\ud" in text.lower():  # an escape that may be half of a pair
        _refuse_surrogates(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(pairs) > MOST_COLUMNS:
        raise ValueError(f"an object has {len(pairs)} fields, at most {MOST_COLUMNS} are read")
    if len(fields) < len(pairs):
        raise ValueError(f"the field '{first_repeated(name for name, _ in pairs)}' comes twice")
    return fields


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that has come before; None if there is none.

    >>> first_repeated(["text", "label", "text"])
    'text'
    """
    seen = set[str]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits, at most {MOST_DIGITS} are read")
    return int(digits)


def _number(text: str) -> float:
    if isinf(value := float(text)):
        raise ValueError(f"the number {text[:20]} is infinite")
    return value


def _written_number(text: str) -> Number:
    _number(text)
    return Number(text)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[error.start]!a} is half of a character") from error
