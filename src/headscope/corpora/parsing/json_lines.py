"""Lines of JSON, and fields of them that are checked."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headscope.corpora.parsing.cursor import Cursor
from headscope.corpora.parsing.json_text import parse
from headscope.corpora.parsing.lines import lines
from headscope.corpora.problems import Bad, Skipped

NAMES = {str: "a text", list: "a list", dict: "an object {...}", int: "a whole number", bool: "true or false"}


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
        """The objects of a field that is a list of them; raises `Bad` if it is none."""
        for value in self.get(name, list):
            if not isinstance(value, dict):
                raise Bad(self.line, f"'{name}' has {value!r}, expected {NAMES[dict]}")
        return [Record(self.line, value) for value in self.get(name, list)]

    def only(self, *names: str) -> None:
        """Raise `Bad` for a field of another name."""
        if unknown := sorted(set(self.fields) - set(names)):
            raise Bad(self.line, f"unknown field '{unknown[0]}'; there are: {', '.join(names)}")


def records(source: str, *, as_written: bool = False, cursor: Cursor | None = None) -> Iterator[Record | Bad | Skipped]:
    """The object of each line; `Bad` for a line that is none. Arguments are those of `json_text.parse` and `lines`."""
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
