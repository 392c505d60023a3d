"""Lines of JSON, read strictly, and fields of them that are checked."""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isinf
from typing import Any, NamedTuple

from headscope.corpora.parsing.lines import Cursor, lines
from headscope.corpora.problems import Bad, Skipped
from headscope.storage.limits import MOST_COLUMNS, MOST_DIGITS

NAMES = {str: "a text", list: "a list", dict: "an object {...}", int: "a whole number", bool: "true or false"}


class NumberText(str):
    """A number as it is written: 5 and 5.0 are two labels, and neither is a text."""

    def __str__(self) -> str:
        return self[:]


class Record(NamedTuple):
    """An object of a line."""

    line: int
    fields: Mapping[str, Any]

    def get(self, name: str, kind: type, default: Any = None) -> Any:
        """A field of this kind; raises `Bad` if it is of another, or missing without a default."""
        value = self.fields.get(name, default)
        if value is None:
            raise Bad(self.line, f"no '{name}'")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise Bad(self.line, f"'{name}' is {value!r}, expected {NAMES[kind]}")
        return value

    def records(self, name: str) -> list["Record"]:
        """The objects of a field that is a list of them; raises `Bad` if it is no list of them."""
        for value in self.get(name, list):
            if not isinstance(value, dict):
                raise Bad(self.line, f"'{name}' has {value!r}, expected {NAMES[dict]}")
        return [Record(self.line, value) for value in self.get(name, list)]

    def only(self, *names: str) -> None:
        """Raise `Bad` for a field of another name."""
        if unknown := sorted(set(self.fields) - set(names)):
            raise Bad(self.line, f"unknown field '{unknown[0]}'; there are: {', '.join(names)}")


def records(source: str, *, as_written: bool = False, cursor: Cursor | None = None) -> Iterator[Record | Bad | Skipped]:
    """The object of each line; `Bad` for a line that is not one. Arguments are those of `parse` and `lines`."""
    for number, line in lines(source, cursor=cursor):
        try:
            value = parse(line, as_written=as_written) if line.strip() else None
        except ValueError as error:
            yield Bad(number, f"not JSON ({error})")
            continue
        if isinstance(value, dict):
            yield Record(number, value)
        else:
            yield Skipped("empty") if value is None else Bad(number, f"not {NAMES[dict]}, which names its fields")


def parse(text: str, *, as_written: bool = False) -> Any:
    """Parse one JSON value; with `as_written`, numbers become `NumberText`.

    Raises `ValueError`, in one line, also for what `json` accepts: NaN and infinities, written so or as 1e999, a field
    that comes twice, half of a surrogate pair; and for nesting and numbers without end.

    >>> parse('{"stars": 5.0}', as_written=True)
    {'stars': '5.0'}
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the field 'a' comes twice
    """
    kinds = (NumberText, _written_number) if as_written else (_integer, _number)
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


def _written_number(text: str) -> NumberText:
    _number(text)
    return NumberText(text)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[error.start]!a} is half of a character") from error
