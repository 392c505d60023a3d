"""Files of entries in YAML: read as plain data, each field checked, nothing executed."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import yaml

from headscope.corpora.parsing.lines import opened
from headscope.errors import HeadscopeError, suggest
from headscope.storage.limits import LARGEST_CLAIMS

Refuse = Callable[[str], HeadscopeError]
LARGEST = 1e15  # no number of a result is larger
Label = str | int | list[str | int]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _is_label(value: Any) -> bool:
    labels = value if isinstance(value, list) else [value]
    return all(isinstance(label, str) or (_is_number(label) and label == int(label)) for label in labels)


def _all_text(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


# Of each type: what its values are called, which are taken, and what is made of them.
TYPES: Mapping[Any, tuple[str, Callable[[Any], bool], Callable[[Any], Any]]] = {
    str: ("text; put it in quotes", lambda value: isinstance(value, str) or _is_number(value), str),
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


class _Loader(yaml.SafeLoader):
    """Refuses anchors and aliases as they are parsed, before anything is made of them."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.peek_event().anchor:
            raise ValueError("it has anchors or aliases; write each value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        names = Counter(key.value for key, _ in node.value if isinstance(key.value, str))
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise ValueError(f"it has '{twice}' twice in one mapping, in line {node.start_mark.line + 1}; remove one")
        return super().construct_mapping(node, deep)


def plain_data(text: str) -> Any:
    """The data of a text in YAML. Raises `ValueError`, in words for the user, for text that is no YAML.

    >>> plain_data("{limit: 0.5, at: [1, 2]}")
    {'limit': 0.5, 'at': [1, 2]}
    """
    try:
        return _Loader(text).get_single_data()
    except (yaml.YAMLError, RecursionError, LookupError, AttributeError, TypeError) as error:  # also of a wrong tag
        raise ValueError(f"it is not YAML ({' '.join(str(error).split())[:120]})") from error


@dataclass(frozen=True)
class ClaimedNumber:
    """A number of a result.

    * `variable`: its name; `at`: the labels that are selected, see `numbers.take` (`sink` is the special token with
      the most attention); `mean`: dimensions that are averaged then.
    * `share_of`: a variable without dimensions that it is divided by; `times`: what it is multiplied by.
    """

    variable: str
    at: Mapping[str, Label] = field(default_factory=dict)
    mean: tuple[str, ...] = ()
    share_of: str = ""
    times: float = 1.0


def refuse_file(kind: str, path: Path) -> Refuse:
    """Make the error of a file ("claims") that cannot be read."""
    return lambda reason: HeadscopeError(f"{kind} '{path}' cannot be read: {reason}")


def refuse_entry(bad: Refuse, entry: str) -> Refuse:
    """Makes the error of an entry of such a file ("entry 3")."""
    return lambda reason: bad(f"{entry}: {reason}")


def read_mapping(path: Path, names: Iterable[str], entries: str, schema: int, bad: Refuse) -> dict[str, Any]:
    """The mapping of a file, with the known fields alone, and the list of its field `entries`.

    Raises what `bad` makes, and `HeadscopeError` for what is no plain file.
    """
    with opened(path, "file") as file:
        content = file.read(LARGEST_CLAIMS + 1)
    if len(content) > LARGEST_CLAIMS:
        raise bad(f"more than {LARGEST_CLAIMS} bytes")
    try:
        data = plain_data(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise bad(f"it is not YAML in UTF-8 ({error})") from error
    except ValueError as error:
        raise bad(str(error)) from error
    if not isinstance(data, dict) or not isinstance(data.get(entries), list):
        raise bad(f"it has no list of {entries}; expected {', '.join(names)}")
    check_fields(data, names, bad)
    if data.get("schema") != schema:
        raise bad(f"schema {data.get('schema')!r} is not {schema}")
    return data


def number(value: Any, bad: Refuse) -> ClaimedNumber:
    """A number of a result, from the name of a variable or a mapping. Raises what `bad` makes for anything else."""
    if isinstance(value, str):
        return ClaimedNumber(value)
    if not isinstance(value, dict) or not isinstance(value.get("variable"), str):
        raise bad("a number has no variable")
    return ClaimedNumber(**typed_fields(value, ClaimedNumber, bad))
