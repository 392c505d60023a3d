"""The lines of a file of labels: JSON objects, one for each map.

A line has `id`, `label` ("" while there is none), `tokens`, and optionally `token_class` (of each token:
cls, sep, punct, other), `model`, `corpus`, `layer` and `head` (from 1), `annotator`, `annotator_a` and `annotator_b`.
Other fields are not read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headscope.corpora.parsing.json_lines import parse
from headscope.corpora.parsing.lines import lines as file_lines
from headscope.errors import HeadscopeError
from headscope.results.vocabulary import PATTERNS, TOKEN_CLASSES

NAMES = ("model", "corpus", "annotator", "annotator_a", "annotator_b")
NUMBERS = ("layer", "head")


def lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line, after its place ("file, line 3").

    Raises `HeadscopeError` for a line that is no object, or has no whole number as id or none of the labels.
    """
    for number, text in file_lines(path, "labels"):
        where = f"'{path}', line {number}"
        try:
            line = parse(text)
        except ValueError as error:
            raise HeadscopeError(f"{where}: not JSON ({error}); write one object a line") from error
        if not isinstance(line, dict):
            raise HeadscopeError(f"{where}: not an object; write one object a line")
        if type(line.get("id")) is not int:
            raise HeadscopeError(f"{where}: id {repr(line.get('id'))[:40]} is no whole number; mend it")
        line["label"] = line.get("label") or ""
        if line["label"] not in ("", *PATTERNS):
            raise HeadscopeError(
                f"{where}: label {str(line['label'])[:40]!r} is not one of {', '.join(PATTERNS)}; mend it"
            )
        yield where, line


def map_fields(where: str, line: dict[str, Any], length: int) -> dict[str, Any]:
    """The fields of a line that describe a map of `length` tokens.

    Raises `HeadscopeError` for fields that do not fit to the map.
    """
    tokens: Any = line.get("tokens")
    classes: Any = line.get("token_class") or []
    if not _are(tokens, str) or len(tokens) != length:
        raise HeadscopeError(f"{where}: tokens must be a list of {length}, as long as the map; mend it")
    if classes and (not _are(classes, str) or len(classes) != length or set(classes) - set(TOKEN_CLASSES)):
        raise HeadscopeError(f"{where}: token_class must be {length} of {', '.join(TOKEN_CLASSES)}; mend it")
    names = {name: line.get(name) or "" for name in NAMES}
    numbers = {name: line.get(name) or 0 for name in NUMBERS}
    for kind, kinds in ((str, names), (int, numbers)):
        for name, value in kinds.items():
            if not isinstance(value, kind):
                wanted = "name" if kind is str else "number"
                raise HeadscopeError(f"{where}: {name} {repr(value)[:40]} is not a {wanted}; mend it")
    return {"label": line["label"], "tokens": tuple(tokens), "token_class": tuple(classes), **names, **numbers}


def _are(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)
