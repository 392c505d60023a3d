"""A head's report card: what each result says of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from headscope.errors import HeadscopeError
from headscope.figures.labels import head_name
from headscope.figures.standing import among
from headscope.report.cards.address import addressed
from headscope.report.cards.head_rows import Row, rows, where
from headscope.report.cards.model_results import Model, Source
from headscope.report.cards.wording import ordinal, value
from headscope.report.parts import Figure, Finding
from headscope.report.study_page import study_page
from headscope.statistics.thresholds import LEAST_CASES

MOST, FIRST = 8, 3


@dataclass(frozen=True)
class Part:
    """What one result says of a head: its numbers, sentences made from them, and charts."""

    source: Source
    layer: int
    head: int
    numbers: pd.DataFrame

    @cached_property
    def findings(self) -> list[Finding]:
        """Sentences."""
        return list(study_page(self.source.result).card().sentences(self.source.result, self.numbers))

    @cached_property
    def picked(self) -> pd.DataFrame:
        """The numbers that matter most: of a variable with many labels those furthest above their baseline, else those
        in which the head has the highest rank."""
        frames = [_most(each) for _, each in self.numbers.groupby("variable", sort=False)]
        return pd.concat(frames) if frames else self.numbers

    @property
    def maps(self) -> list[Figure]:
        """Its most telling examples."""
        return list(study_page(self.source.result).card().maps(self.source.result, self.layer, self.head))

    @property
    def figures(self) -> list[Figure]:
        """Other charts."""
        return list(study_page(self.source.result).card().figures(self.source.result, self.layer, self.head))


def _most(numbers: pd.DataFrame) -> pd.DataFrame:
    if len(numbers) <= MOST:
        return numbers
    above = numbers["value"] - numbers["baseline"]
    by = numbers["rank"] if any(above.isna()) else -above
    return numbers.iloc[np.argsort(by, kind="stable")[:MOST]]


def _named(row: Row) -> str:
    where = f": {row.words}" if row.words else ""
    return f"{row.variable.replace('_', ' ')}{where} {value(row)}, {ordinal(row.rank)}"


@dataclass(frozen=True)
class Card:
    """All that the results of a model say of one head."""

    model: Model
    layer: int
    head: int

    @property
    def name(self) -> str:
        """The head as the papers write it."""
        return head_name(self.layer, self.head)

    @cached_property
    def parts(self) -> list[Part]:
        """What each result says, without those that say nothing."""
        mine = self._own(self.model.numbers)
        parts = [
            Part(source, self.layer, self.head, where(mine, mine["source"] == place))
            for place, source in enumerate(self.model.sources)
        ]
        return [part for part in parts if len(part.numbers) or part.findings]

    @cached_property
    def findings(self) -> list[Finding]:
        """Of all results together: in which numbers the head is among the first, beside the average head."""
        whole = self.model.numbers
        enough = where(whole, ~(whole["n"] < LEAST_CASES))
        every = where(enough, (enough["rank"] <= FIRST) & (enough["value"] > enough["median"]))
        mine, total = self._own(every).sort_values(by="rank", kind="stable"), len(self._own(enough))
        told = f"Among the {FIRST} highest heads in {len(mine)} of {total} numbers of enough cases"
        average = f"the average head is so in {len(every) / len(self.model.heads):.0f}"
        named = "; ".join(map(_named, rows(mine.head(MOST))))
        return [Finding("Stands out", f"{told} ({average}){': ' if named else ''}{named}.")]

    @property
    def standing(self) -> Figure | None:
        """Where the head stands among all heads, in the main numbers of each result."""
        arrays = {name: array for name, array in main_numbers(self.model) if self._has(array)}
        if not arrays:
            return None
        caption = (
            "Each line reaches from the lowest to the highest head; grey are all heads, the coloured dot is this one, "
            "with its 95% interval."
        )
        chart = among(arrays, self.layer, self.head)
        return Figure("standing", "Among all heads", chart, caption, "")

    def _own(self, numbers: pd.DataFrame) -> pd.DataFrame:
        return where(numbers, (numbers["layer"] == self.layer) & (numbers["head"] == self.head))

    def _has(self, array: xr.DataArray) -> bool:
        return bool(array.sel(layer=self.layer, head=self.head).notnull())


def card(models: Sequence[Model], layer: int, head: int) -> list[Card]:
    """The cards of a head: one for each model that has it.

    Raises `HeadscopeError` if none has.
    """
    found = [Card(model, layer, head) for model in models if (layer, head) in model.heads]
    if not found:
        known = "; ".join(f"{model.name} has {_range(model.heads)}" for model in models)
        raise HeadscopeError(f"head '{head_name(layer, head)}' is in no result; {known or 'none is about heads'}")
    return found


def _range(heads: list[tuple[int, int]]) -> str:
    return f"{head_name(*heads[0])} to {head_name(*heads[-1])}"


def main_numbers(model: Model) -> list[tuple[str, xr.DataArray]]:
    """The main numbers of each result, named and as arrays of all heads, with their intervals."""
    found = []
    for place, source in enumerate(model.sources):
        mine = where(model.numbers, model.numbers["source"] == place)
        for address in study_page(source.result).card().main_numbers(source.result) if len(mine) else ():
            numbers = addressed(mine, address)
            again = [name for name, _ in found]
            name = column_name(numbers)
            found.append((f"{name} ({source.name})" if name in again else name, _array(numbers)))
    return found


def column_name(numbers: pd.DataFrame) -> str:
    """What the numbers of an address are: the variable, and its labels where they are the same for all heads."""
    variable, words = numbers["variable"].iloc[0].replace("_", " "), set(numbers["words"])
    same = words.pop() if len(words) == 1 else ", ".join(_shared([labels.split(", ") for labels in words]))
    return f"{variable}: {same}" if same else variable


def _shared(labels: list[list[str]]) -> list[str]:
    return [each for each in labels[0] if all(each in others for others in labels)]


def _array(numbers: pd.DataFrame) -> xr.DataArray:
    whole = numbers.set_index(["layer", "head"])[["value", "lower", "upper"]].to_xarray()
    return whole["value"].assign_coords(lower=whole["lower"].astype(float), upper=whole["upper"].astype(float))
