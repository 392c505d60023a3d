"""Check of the attributes of a saved result: text that can be written, numbers, and JSON, as the vocabulary says."""

import json
import math
from typing import Any

import numpy as np
import xarray as xr

from headscope.results.vocabulary import ATTRIBUTES, COUNTS, LISTS, NUMBERS, OBJECTS

# Characters of the words of a variable, which stand on its figures and tables.
LONGEST = 5000


def check_attributes(result: xr.Dataset) -> None:
    """Raise `ValueError` for an attribute of another type than the vocabulary says, or text that cannot be shown.

    Numbers are single values, all other attributes of `ATTRIBUTES` text (or none, for a model that is in no file).
    """
    owners = {"": result.attrs} | {
        f" of variable '{name}'": variable.attrs for name, variable in result.variables.items()
    }
    for owner, attributes in owners.items():
        if wrong := [name for name, value in attributes.items() if isinstance(value, str) and not is_unicode(value)]:
            raise ValueError(f"result: attributes {wrong}{owner} are no UTF-8")
        if owner and (
            wrong := [name for name, value in attributes.items() if isinstance(value, str) and len(value) > LONGEST]
        ):
            raise ValueError(f"result: attributes {wrong}{owner} have more than {LONGEST} characters")
    for name, value in result.attrs.items():
        if name in NUMBERS and not _is_number(value):
            raise ValueError(f"result: attribute '{name}' is not a number")
        if name in ATTRIBUTES and name not in NUMBERS and not isinstance(value, str | None):
            raise ValueError(f"result: attribute '{name}' is not text")
        if name in OBJECTS + LISTS and not isinstance(_parsed(value), dict if name in OBJECTS else list):
            raise ValueError(f"result: attribute '{name}' is no JSON {'object' if name in OBJECTS else 'list'}")
        if name in COUNTS and not all(map(_is_number, _parsed(value).values())):
            raise ValueError(f"result: attribute '{name}' has values that are no numbers")


def is_unicode(text: str) -> bool:
    """Whether a text can be written; bytes that are no UTF-8 are read as halves of surrogate pairs.

    >>> is_unicode("é"), is_unicode("\\udcff")
    (True, False)
    """
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _parsed(value: Any) -> Any:
    """The value that a text has as JSON; None for anything else."""
    try:
        return json.loads(value)
    except (ValueError, TypeError, RecursionError):
        return None


def _is_number(value: Any) -> bool:
    """Whether an attribute is a number, or a text that is one."""
    try:
        return isinstance(value, str | int | float | np.integer | np.floating) and 0 <= float(value) < math.inf
    except (ValueError, OverflowError):
        return False
