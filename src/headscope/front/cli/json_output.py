"""JSON for programs: one object on standard output, with the version of its schema; docs/json.md lists the fields."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import typer

# Raised where a field goes or changes its meaning. A new field leaves it as it is.
SCHEMA = 1


def print_json(values: Mapping[str, Any]) -> None:
    """Print one object, in one line."""
    typer.echo(json.dumps({"schema": SCHEMA} | finite(values), allow_nan=False))


def finite(value: Any) -> Any:
    """A value with None, JSON's null, in the place of numbers that are not finite.

    >>> finite({"q": float("nan"), "values": (1, float("inf"))})
    {'q': None, 'values': [1, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
