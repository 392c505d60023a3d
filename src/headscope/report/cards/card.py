"""The report card of a head, from all results."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from headscope.errors import HeadscopeError
from headscope.figures.dot_rows import among
from headscope.figures.labels import head_name
from headscope.report.cards.head_numbers import COLUMNS, FIRST, RankRow, Row, of_variable, rank_rows, stands_out
from headscope.report.cards.model_results import MeasuredModel, Source
from headscope.report.cards.tables import of_card
from headscope.report.layer_numbers import best_of
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Table
from headscope.statistics.significance import LEAST_CASES

MOST_NUMBERS = 8


@dataclass(frozen=True)
class CardPart:
    """The numbers of a head in one result, sentences made from them, and charts."""

    source: Source
    layer: int
    head: int
    rows: list[Row]

    @property
    def numbers(self) -> pd.DataFrame:
        """Its numbers as a table, which has its columns also when empty; see `numbers`."""
        return pd.DataFrame(self.rows, columns=[*COLUMNS, "source"])

    @cached_property
    def findings(self) -> list[Finding]:
        """Sentences."""
        return list(self.source.page.card().sentences(self.source.result, self.rows))

    @cached_property
    def picked(self) -> list[Row]:
        """The numbers that matter most: furthest above their baseline; without one, of the highest ranks."""
        variables = dict.fromkeys(row.variable for row in self.rows)
        return [row for variable in variables for row in _most(of_variable(self.rows, variable))]

    @property
    def caption(self) -> str:
        """The name of the result, and how many of its numbers are picked where not all are."""
        picked, rows = len(self.picked), len(self.rows)
        return f"{self.source.name}: {picked} of {rows} numbers" if picked < rows else self.source.name

    @property
    def maps(self) -> list[Figure]:
        """Its most telling examples."""
        return list(self.source.page.card().maps(self.source.result, self.layer, self.head))

    @property
    def figures(self) -> list[Figure]:
        """Other charts."""
        return list(self.source.page.card().figures(self.source.result, self.layer, self.head))


def _most(numbers: list[Row]) -> list[Row]:
    if len(numbers) <= MOST_NUMBERS:
        return numbers
    if any(pd.isna(row.baseline) for row in numbers):
        return sorted(numbers, key=lambda row: row.rank)[:MOST_NUMBERS]
    return sorted(numbers, key=lambda row: row.baseline - row.value)[:MOST_NUMBERS]


@dataclass(frozen=True)
class Card:
    """One head in all results of a model."""

    model: MeasuredModel
    layer: int
    head: int

    @property
    def name(self) -> str:
        """The head as the papers write it."""
        return head_name(self.layer, self.head)

    def read(self) -> "Card":
        """Make all words now, before a page is rendered, so that failures can be noted."""
        _ = self.findings, self.rank_rows, self.tables, [part.findings for part in self.parts]
        return self

    @cached_property
    def parts(self) -> list[CardPart]:
        """The part of each result, without empty ones."""
        own = self.model.rows.get((self.layer, self.head), {})
        parts = [
            CardPart(source, self.layer, self.head, own.get(index, []))
            for index, source in enumerate(self.model.sources)
        ]
        return [part for part in parts if part.rows or part.findings]

    @cached_property
    def findings(self) -> list[Finding]:
        """The count of numbers in which the head is among the first, beside that of the average head."""
        count = sum(map(stands_out, self._tested))
        text = f"Among the {FIRST} highest heads in {count} of {len(self._tested)} numbers with enough cases"
        average = f"{self.model.first_on_average:.0f} for the average head"
        return [Finding("Stands out", f"{text} ({average})."), *self._shared_keys(), *self._layer()]

    @cached_property
    def rank_rows(self) -> list[RankRow]:
        """A row for each question of the studies: the rank of the head among all heads."""
        return rank_rows(self._tested, [source.name for source in self.model.sources])

    @cached_property
    def _tested(self) -> list[Row]:
        """Its numbers with enough cases."""
        return [row for part in self.parts for row in part.rows if not row.n < LEAST_CASES]

    @cached_property
    def tables(self) -> list[Table]:
        """The numbers of each result that matter most."""
        return [of_card(part.picked, "card", part.caption) for part in self.parts if part.rows]

    def _shared_keys(self) -> Iterator[Finding]:
        """The other heads that read the same keys and values, in a model whose key heads are fewer."""
        groups = json.loads(self.model.sources[0].result.attrs.get("query_groups", "[]"))
        size = (groups[self.layer - 1] or 1) if groups else 1
        number = (self.head - 1) // size
        shared = range(number * size + 1, (number + 1) * size + 1)
        names = [head_name(self.layer, head) for head in shared if head != self.head]
        if names:
            text = f"It shares keys and values (KV head {number + 1} of its layer) with {', '.join(names)}."
            yield Finding("Shared keys", text)

    def _layer(self) -> Iterator[Finding]:
        """The numbers of layers for which that of the head was chosen as the best."""
        if best := best_of(self.model.layers, self.layer):
            names = "; ".join(f"{one.words} ({one.words_at(self.layer)})" for one in best)
            count = sum(one.chosen is not None for one in self.model.layers)
            yield Finding(f"Layer {self.layer}", f"Its layer was chosen for {len(best)} of {count}: {names}.")

    @property
    def standing(self) -> Figure | None:
        """The place of the head among all heads, in the main numbers of each result."""
        here = {"layer": self.layer, "head": self.head}
        arrays = {name: array for name, array in self.model.main_numbers if array.sel(here).notnull()}
        if not arrays:
            return None
        caption = (
            "Each line reaches from the lowest to the highest head; grey are all heads, the coloured dot is this one, "
            "with its 95% interval."
        )
        chart = among(arrays, self.layer, self.head)
        return Figure("standing", "Among all heads", chart, caption, "")


def card(models: Sequence[MeasuredModel], layer: int, head: int) -> list[Card]:
    """The cards of a head: one for each model that has it. Raises `HeadscopeError` if none has."""
    cards = [Card(model, layer, head) for model in models if (layer, head) in model.heads]
    if not cards:
        ends = [(model.name, head_name(*model.heads[0]), head_name(*model.heads[-1])) for model in models]
        there = "; ".join(f"{name} has {first} to {last}" for name, first, last in ends)
        raise HeadscopeError(f"head '{head_name(layer, head)}' is in no result; {there or 'none is about heads'}")
    return cards
