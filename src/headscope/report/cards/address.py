"""Addresses of numbers: `entropy`, `attention_offset.-1`, `accuracy.nsubj`."""

import pandas as pd

from headscope.errors import HeadscopeError, suggest
from headscope.report.cards.head_numbers import where


def addressed(numbers: pd.DataFrame, address: str) -> pd.DataFrame:
    """The number of each head (and of each result that has it) that an address names.

    What the address leaves open is chosen for each head: its largest value, as `labels` says. `rank` and `median` are
    among these.
    Raises `HeadscopeError` if there is no such variable or label, saying which there are.

    >>> heads = {"source": 0, "layer": 1, "head": [1, 1], "value": [0.1, 0.3]}
    >>> numbers = pd.DataFrame({**heads, "variable": "accuracy", "labels": [("det", "a"), ("det", "b")]})
    >>> addressed(numbers, "accuracy.det")["labels"].tolist()
    [('det', 'b')]
    """
    variable, rest = _variable(address, set(numbers["variable"]))
    rows = where(numbers, numbers["variable"] == variable)
    if not len(rows):
        raise HeadscopeError(f"variable '{variable}' is in no result; {suggest(variable, list(numbers['variable']))}")
    existing = _labels(rows)
    for wanted in _split(rest, existing):
        chosen = where(rows, [wanted in labels for labels in rows["labels"]])
        if not len(chosen):
            raise HeadscopeError(f"variable '{variable}' has no '{wanted}'; {suggest(wanted, existing)}")
        rows = chosen
    rows = rows.loc[rows.groupby(["source", "layer", "head"], sort=False)["value"].idxmax()]
    values = rows.groupby("source")["value"]
    rank = values.rank(ascending=False, method="min").astype(int)
    return rows.assign(rank=rank, heads=values.transform("size"), median=values.transform("median"))


def has_number(numbers: pd.DataFrame, address: str) -> bool:
    """True if any head has the number of an address; False where there was nothing to measure.

    >>> numbers = pd.DataFrame({"variable": ["accuracy"], "labels": [("det", "a")]})
    >>> has_number(numbers, "accuracy.det"), has_number(numbers, "accuracy.all")
    (True, False)
    """
    variable, rest = _variable(address, set(numbers["variable"]))
    rows = where(numbers, numbers["variable"] == variable)
    wanted = set(_split(rest, _labels(rows)))
    return any(wanted <= set(labels) for labels in rows["labels"])


def _labels(rows: pd.DataFrame) -> list[str]:
    return [label for labels in dict.fromkeys(rows["labels"]) for label in labels]


def _variable(address: str, existing: set[str]) -> tuple[str, str]:
    """The variable of an address and what follows; a variable may have a dot in it, too."""
    longest = max((name for name in existing if f"{address}.".startswith(f"{name}.")), key=len, default="")
    name, _, rest = address.partition(".")
    return (longest, address[len(longest) + 1 :]) if longest else (name, rest)


def _split(text: str, existing: list[str]) -> list[str]:
    """The labels of an address; a label may have a dot in it."""
    if not text or text in existing:
        return [text] if text else []
    first, dot, rest = text.partition(".")
    while dot and first not in existing and rest:
        more, dot, rest = rest.partition(".")
        first = f"{first}.{more}"
    if first not in existing:
        return [text.removeprefix("+")] if text.removeprefix("+") in existing else text.split(".")
    return [first, *_split(rest, existing)]
