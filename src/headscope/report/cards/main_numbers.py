"""Numbers by their addresses (`entropy`, `attention_offset.-1`, `accuracy.nsubj`), and the main numbers of heads.

The main numbers are columns of an index, and values by which the atlas orders heads.
"""

from collections.abc import Iterable
from typing import Any, TypedDict

import pandas as pd
import xarray as xr

from headscope.errors import HeadscopeError, suggest
from headscope.figures.labels import head_name, significant, with_labels
from headscope.figures.tidy import records
from headscope.report.cards.head_numbers import where
from headscope.report.study_page import study_page


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


def main_numbers(result: xr.Dataset, numbers: pd.DataFrame) -> list[tuple[str, xr.DataArray]]:
    """The main numbers of a result, named and as arrays of all heads, with their intervals.

    A number that no head has is left out: a few sentences may lack the words that it is about.
    """
    return list(main_numbers_by_address(result, numbers).values())


def main_numbers_by_address(result: xr.Dataset, numbers: pd.DataFrame) -> dict[str, tuple[str, xr.DataArray]]:
    """The same by their addresses, which are those of any result of the study."""
    card: Any = study_page(result).card()
    addresses = [address for address in card.main_numbers(result) if has_number(numbers, address)]
    chosen = {address: addressed(numbers, address) for address in addresses}
    return {address: (column_name(rows), _array(rows)) for address, rows in chosen.items()}


def column_name(numbers: pd.DataFrame) -> str:
    """The title of the numbers of an address: the variable, and its labels where all heads have the same."""
    return with_labels(numbers["variable"].iloc[0], filter(None, [shared(dict.fromkeys(numbers["words"]))]))


def shared(names: Iterable[str]) -> str:
    """The labels that all names share.

    >>> shared(["all, head → dependent", "all"])
    'all'
    """
    first, *others = (name.split(", ") for name in names)
    return ", ".join(label for label in first if all(label in labels for labels in others))


def _array(numbers: pd.DataFrame) -> xr.DataArray:
    heads = numbers.set_index(["layer", "head"])[["value", "lower", "upper"]].to_xarray()
    return heads["value"].assign_coords(lower=heads["lower"].astype(float), upper=heads["upper"].astype(float))


class HeadValues(TypedDict):
    """One number of the heads: its name, and its value for each head that has one, by the name of the head ("4-7")."""

    title: str
    values: dict[str, float]


def head_values(numbers: Iterable[tuple[str, xr.DataArray]]) -> list[HeadValues]:
    """Main numbers, in four digits."""
    return [{"title": title, "values": _by_head(array)} for title, array in numbers]


def _by_head(array: xr.DataArray) -> dict[str, float]:
    return {head_name(row["layer"], row["head"]): float(significant(row["value"], 4)) for row in records(array)}
