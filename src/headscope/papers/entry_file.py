"""Files of entries in YAML: read as plain data, each field checked, nothing executed."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from headscope.errors import HeadscopeError, suggest
from headscope.storage.files import opening

LARGEST = 1 << 20  # bytes of a file
Refuse = Callable[[str], HeadscopeError]


@dataclass(frozen=True)
class ClaimedNumber:
    """A number of a result.

    * `variable`: its name; `at`: the labels that are selected, see `numbers.take` (`sink` is the special token with
      the most attention); `mean`: dimensions that are averaged then.
    * `share_of`: a variable without dimensions that it is divided by; `times`: what it is multiplied by.
    """

    variable: str
    at: Mapping[str, Any] = field(default_factory=dict)
    mean: tuple[str, ...] = ()
    share_of: str = ""
    times: float = 1.0


@opening()
def read_mapping(path: Path, known: Iterable[str], entries: str, schema: int, bad: Refuse) -> dict[str, Any]:
    """The mapping of a file, with the known fields alone, and a list of entries.

    * `entries`: the field of the list; `bad`: makes the error of a file that cannot be read.

    Raises what `bad` makes.
    """
    if path.stat().st_size > LARGEST:
        raise bad(f"more than {LARGEST} bytes")
    try:
        text = path.read_text(encoding="utf-8")
        if any(word[:1] in "&*" for word in text.split()):  # a few lines of these unpack to a large object
            raise bad("it has anchors or aliases; write each value out")
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise bad(f"it is not YAML in UTF-8 ({' '.join(str(error).split())[:120]})") from error
    if not isinstance(data, dict) or not isinstance(data.get(entries), list):
        raise bad(f"it has no list of {entries}; expected {', '.join(known)}")
    check_fields(data, known, bad)
    if data.get("schema") != schema:
        raise bad(f"schema {data.get('schema')!r} is not {schema}")
    return data


def number(value: Any, bad: Refuse) -> ClaimedNumber:
    """A number of a result, from the name of a variable or a mapping.

    Raises what `bad` makes for anything else.
    """
    if isinstance(value, str):
        return ClaimedNumber(value)
    if not isinstance(value, dict) or not isinstance(value.get("variable"), str):
        raise bad("a number has no variable")
    check_fields(value, [one.name for one in fields(ClaimedNumber)], bad)
    at, mean = value.get("at", {}), value.get("mean", [])
    if not isinstance(at, dict) or not all(isinstance(label, str | int | list) for label in at.values()):
        raise bad("`at` is no mapping of dimensions to labels")
    if not isinstance(mean, list) or not isinstance(value.get("times", 1.0), int | float):
        raise bad("`mean` is no list of dimensions, or `times` no number")
    share = str(value.get("share_of", ""))
    return ClaimedNumber(value["variable"], at, tuple(map(str, mean)), share, float(value.get("times", 1.0)))


def check_fields(given: Mapping[Any, Any], known: Iterable[str], bad: Refuse) -> None:
    """Raise what `bad` makes for a field that is not known."""
    known = list(known)
    for name in given:
        if name not in known:
            raise bad(f"no field '{name}'; {suggest(str(name), known)}")
