"""The fields of an entry, by the types of a dataclass: the one place that says what each may be."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_type_hints

from headscope.errors import HeadscopeError, suggest

Refuse = Callable[[str], HeadscopeError]
LARGEST = 1e15  # no number of a result is larger
Label = str | int | list[str | int]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _is_label(value: Any) -> bool:
    labels = value if isinstance(value, list) else [value]
    return all(isinstance(label, str) or (_is_number(label) and label == int(label)) for label in labels)


def _all_text(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


# Of each type: what its values are called, which are taken, and what is made of them.
TYPES: Mapping[Any, tuple[str, Callable[[Any], bool], Callable[[Any], Any]]] = {
    str: ("text; put it in quotes", _is_text, str),
    bool: ("true or false", lambda value: isinstance(value, bool), bool),
    int: ("whole number", lambda value: _is_number(value) and isinstance(value, int), int),
    float: ("number", _is_number, float),
    tuple[str, ...]: ("list of names", lambda value: isinstance(value, list) and _all_text(value), tuple),
    Mapping[str, str]: (
        "mapping of names to texts",
        lambda value: isinstance(value, dict) and _all_text([*value, *value.values()]),
        dict,
    ),
    Mapping[str, Label]: (
        "mapping of dimensions to labels",
        lambda value: isinstance(value, dict) and _all_text(value) and all(map(_is_label, value.values())),
        dict,
    ),
}


def typed_fields(entry: Any, kind: type, bad: Refuse) -> dict[str, Any]:
    """The fields that an entry has, each of the type that a dataclass says; fields of further types as they are.

    Raises what `bad` makes for an entry that is no mapping, an unknown field, and a value of another type.
    """
    if not isinstance(entry, dict):
        raise bad("it is no mapping of fields")
    types = get_type_hints(kind)
    check_fields(entry, types, bad)
    return {name: typed(value, name, types[name], bad) for name, value in entry.items()}


def typed(value: Any, name: str, kind: Any, bad: Refuse) -> Any:
    """A value of a type of `TYPES`; of other types as it is. Raises what `bad` makes for a value of another type."""
    words, is_one, make = TYPES.get(kind, ("", lambda value: True, lambda value: value))
    if not is_one(value):
        raise bad(f"{name} '{str(value)[:40]}' is no {words}")
    return make(value)


def check_fields(entry: Mapping[Any, Any], fields: Iterable[str], bad: Refuse) -> None:
    """Raise what `bad` makes for a field that is not known."""
    fields = list(fields)
    for name in entry:
        if name not in fields:
            raise bad(f"no field '{name}'; {suggest(str(name), fields)}")
