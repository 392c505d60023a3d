"""Charts as JSON of a page: the data apart, as columns, each set once."""

import hashlib
import json
from base64 import b64encode
from typing import Any

DIGITS = 6


def embedded(charts: dict[str, Any]) -> dict[str, Any]:
    """The specifications of the charts and the data that they name.

    Charts that draw the same rows share them; values keep six significant digits (`result.nc` has all).
    """
    data: dict[str, Any] = {}
    specs = {name: _taken_apart(chart.to_dict(), data) for name, chart in charts.items()}
    return {"specs": specs, "data": data}


def _taken_apart(spec: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A specification without its rows; they go to `data` as columns."""
    rows = spec.pop("datasets", {})
    data.update({key: columns(value) for key, value in rows.items()})
    return {**spec, "uses": list(rows)}


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Rows as columns, missing values as None.

    >>> columns([{"head": 1, "value": 0.12345678}, {"head": 2}])
    {'head': [1, 2], 'value': [0.123457, None]}
    """
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [_short(row.get(key)) for row in rows] for key in keys}


def _short(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def script_json(value: object) -> str:
    """JSON that no text in it can end the script element with.

    >>> script_json("</script><!--")
    '"\\\\u003c/script>\\\\u003c!--"'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def digest(script: str) -> str:
    """The hash by which the page's policy lets a script run."""
    return "sha256-" + b64encode(hashlib.sha256(script.encode()).digest()).decode()
