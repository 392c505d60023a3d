"""The main numbers of heads, as columns of an index and as values by which the atlas orders heads."""

from collections.abc import Iterable
from typing import TypedDict

import pandas as pd
import xarray as xr

from headscope.figures.labels import head_name, name_in_words
from headscope.figures.tidy import tidy
from headscope.report.cards.address import addressed, has_number
from headscope.report.study_page import study_page


def main_numbers(result: xr.Dataset, numbers: pd.DataFrame) -> list[tuple[str, xr.DataArray]]:
    """The main numbers of a result, named and as arrays of all heads, with their intervals.

    A number that no head has is left out: a few sentences may lack the words that it is about.

    * `numbers`: all numbers of the result.
    """
    addresses = study_page(result).card().main_numbers(result)
    chosen = [addressed(numbers, address) for address in addresses if has_number(numbers, address)]
    return [(column_name(found), _array(found)) for found in chosen]


def column_name(numbers: pd.DataFrame) -> str:
    """The title of the numbers of an address: the variable, and its labels where all heads have the same."""
    variable, words = name_in_words(numbers["variable"].iloc[0]), set(numbers["words"])
    same = words.pop() if len(words) == 1 else ", ".join(_shared([labels.split(", ") for labels in words]))
    return f"{variable}: {same}" if same else variable


def _shared(labels: list[list[str]]) -> list[str]:
    return [label for label in labels[0] if all(label in others for others in labels)]


def _array(numbers: pd.DataFrame) -> xr.DataArray:
    heads = numbers.set_index(["layer", "head"])[["value", "lower", "upper"]].to_xarray()
    return heads["value"].assign_coords(lower=heads["lower"].astype(float), upper=heads["upper"].astype(float))


class HeadValues(TypedDict):
    """One number of the heads.

    * `title`: its name; `values`: its value for each head that has one, by the name of the head ("4-7").
    """

    title: str
    values: dict[str, float]


def head_values(numbers: Iterable[tuple[str, xr.DataArray]]) -> list[HeadValues]:
    """Main numbers, in four digits."""
    return [{"title": title, "values": _by_head(tidy(array))} for title, array in numbers]


def _by_head(frame: pd.DataFrame) -> dict[str, float]:
    return {head_name(row["layer"], row["head"]): float(f"{row['value']:.4g}") for row in frame.to_dict("records")}
