"""Charts as JSON of a page: the data apart, as columns, each set once."""

import hashlib
import json
from base64 import b64encode
from typing import Any

from headscope.figures.conversion import replace_controls

DIGITS = 5


def embedded(specs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The specifications of charts and, apart, the data that they name.

    Charts that draw the same rows share them; values keep five significant digits (`result.nc` has all).
    """
    data: dict[str, Any] = {}
    return {"specs": {name: _taken_apart(spec, data) for name, spec in specs.items()}, "data": data}


def _taken_apart(spec: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A specification without its rows; they go to `data` as columns."""
    rows = spec.get("datasets", {})
    data.update({key: columns(value) for key, value in rows.items() if key not in data})
    return {**{key: value for key, value in spec.items() if key != "datasets"}, "uses": list(rows)}


def columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Rows as columns: lists of numbers, missing ones as None; of words, each word once and which one stands where.

    >>> columns([{"task": "rte", "value": 0.12345678}, {"task": "rte"}])
    {'task': {'words': ['rte'], 'at': [0, 0]}, 'value': [0.12346, None]}
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: _column([row.get(key) for row in rows]) for key in keys}


def _column(values: list[Any]) -> Any:
    if not any(isinstance(value, str) for value in values):
        return [float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for value in values]
    words = list(dict.fromkeys(values))
    number = {word: index for index, word in enumerate(words)}
    return {"words": words, "at": [number[value] for value in values]}


def script_json(value: object) -> str:
    """JSON whose texts cannot end the script element, and have no characters that a chart cannot draw.

    >>> script_json("</script><!--")
    '"\\\\u003c/script>\\\\u003c!--"'
    """
    return replace_controls(json.dumps(value, separators=(",", ":"), allow_nan=False)).replace("<", "\\u003c")


def digest(script: str) -> str:
    """The hash by which the page's policy lets a script run."""
    return "sha256-" + b64encode(hashlib.sha256(script.encode()).digest()).decode()
