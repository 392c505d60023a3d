"""The page of a result's study: its findings, figures and tables, and what the card of a head says of it.

They are `PAGE` in the study's `page.py`, the `StudyParts` of `report/declared`; where it has no findings or figures,
there are those of `report/default_parts`.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from altair.utils.schemapi import debug_mode

from headscope import catalog, results
from headscope.figures.labels import of_model, special_tokens
from headscope.report import default_parts
from headscope.report.claims import Verdict
from headscope.report.declared import Part, StudyCard, StudyParts, parts_of
from headscope.report.joined_seeds import SEEDS
from headscope.report.numbers import leaving_out
from headscope.report.parts import Figure, Finding, HeadKind, LayerNumber
from headscope.report.tables import Table
from headscope.statistics.intervals import TOO_FEW

HIGHLIGHTS, FIRST_SCREEN = 4, 5
# Those of a study that has none of its own.
FINDINGS: tuple[Part, ...] = (lambda numbers: default_parts.findings(numbers.result),)
FIGURES: tuple[Part, ...] = (lambda numbers: default_parts.figures(numbers.result),)
NOTHING = Finding(
    "Nothing was measured",
    "No example gives a value to any number of this study. Read more examples, longer ones, or another corpus.",
)
NO_CLAIM = Finding("Nothing stands out", "No effect that this study tests for holds beyond chance here.")
ORDER: list[Verdict | None] = ["holds", "fails", None, "undecided"]
# The hooks of a card, and what each gives where it asks for something that its result does not have.
HOOKS: dict[str, Any] = dict.fromkeys(("main_numbers", "sentences", "maps", "figures"), ())
HOOKS |= {name: {} for name in ("baselines", "rates", "badges")}


@dataclass(frozen=True)
class StudyPage:
    """The parts of one result's page, each made when it is asked for.

    Where the study's own findings say nothing of a result that has numbers, there are those of `report/default_parts`.
    """

    result: xr.Dataset
    study: str | None

    def highlights(self) -> list[Finding]:
        """The three to five findings that matter most: claims that hold first, the largest effect before the others."""
        return self._ranked[:FIRST_SCREEN] or self.findings()[:HIGHLIGHTS]

    def findings(self) -> list[Finding]:
        """The other findings with their intervals and tests, in the order of the page."""
        if self._is_empty():
            return [self._page.nothing or NOTHING]
        return [*self._ranked[FIRST_SCREEN:], *self._made(self._page.findings or FINDINGS)] or self._made(FINDINGS)

    @cached_property
    def _ranked(self) -> list[Finding]:
        """The highlights, the strongest first, after what is said where no claim holds."""
        if self._is_empty() or not self._page.highlights:
            return []
        if TOO_FEW in self.result.attrs.get("resampled", ""):
            first = Finding("Undecided: too few documents", few_documents(self.result))
        else:
            first = self._page.no_claim(self.result) if self._page.no_claim else NO_CLAIM
        return strongest_first(self._made(self._page.highlights), first)

    def figures(self) -> list[Figure]:
        """Charts, in the order of the page, without those whose number has no value to show, or is not there."""
        if self._is_empty():
            return []
        with debug_mode(False):  # else Altair checks every part against its schema, which takes half the time
            figures = self._made(self._page.charts or FIGURES)
        there = [figure for figure in figures if figure.variable in self.result]
        return [figure for figure in there if self.result[figure.variable].notnull().any()]

    def tables(self) -> list[Table]:
        """Tables that the study lays out itself; the first is printed in the terminal too."""
        return self._made(self._page.tables)

    def by_layer(self, names: list[str]) -> list[str]:
        """The variables whose means by layer the terminal prints, of `names`: those of the page, else all."""
        chosen = self._page.by_layer
        return names if chosen is None else [name for name in names if name in chosen]

    def card(self) -> StudyCard:
        """The study's part of the card of a head."""
        card = self._page.card
        return replace(card, **{name: _left_out(getattr(card, name), empty) for name, empty in HOOKS.items()})

    def has_kinds(self) -> bool:
        """Whether the numbers of the study can give a head a kind."""
        return bool(self._page.kinds)

    def kinds(self) -> list[HeadKind]:
        """The kinds of heads that the numbers of the study show."""
        return self._made(self._page.kinds)

    def layer_numbers(self) -> list[LayerNumber]:
        """The numbers of every layer that the study has."""
        return self._made(self._page.layers)

    def layer_figures(self) -> list[Figure]:
        """The figures of layers next to their numbers."""
        return self._made(self._page.layer_figures)

    def _made(self, parts: tuple[Part, ...]) -> list[Any]:
        """What parts make of the result, with the special tokens of its model."""
        with special_tokens(self.result.attrs):
            return of_model(parts_of(parts, self.result))

    @property
    def _page(self) -> StudyParts:
        """The page that the study declares, or that of several corpora or seeds."""
        if self.result.attrs["study"] == SEEDS:
            return importlib.import_module("headscope.report.seeds_page").PAGE
        if "corpus" in self.result.dims:
            return importlib.import_module("headscope.report.corpora_page").PAGE
        return StudyParts() if self.study is None else _declared(catalog.study_folder(self.study) / "page.py")

    def _is_empty(self) -> bool:
        """Whether there are numbers, but none has a value."""
        variables = [self.result.variables[name] for name in results.means(self.result)]
        numbers = [variable.values for variable in variables if variable.dtype.kind == "f"]
        return bool(numbers) and all(np.isnan(values).all() for values in numbers)


@cache
def _declared(file: Path) -> StudyParts:
    """The page of a file, which is looked for once; an empty one where there is none."""
    return importlib.import_module(catalog.module_of(file)).PAGE if file.is_file() else StudyParts()


def study_page(result: xr.Dataset) -> StudyPage:
    """The page of a result; that of `default_parts` where its study is not one of headscope's."""
    study = str(result.attrs["study"])  # looked up, never imported as it is: a result file may hold anything
    return StudyPage(result, study if study in [*catalog.names("studies"), "_template"] else None)


def few_documents(result: xr.Dataset) -> str:
    """Why a result of few documents decides nothing."""
    why = "Sentences of one document depend on each other, so no interval can be computed from so few."
    return f"{why} Read: {result.attrs['resampled']}."


def strongest_first(findings: list[Finding], no_claim: Finding) -> list[Finding]:
    """Claims that hold by their effects (`no_claim` if none does), those that fail, descriptions, and what is open."""
    ranked = sorted(findings, key=lambda finding: (ORDER.index(finding.verdict), -finding.effect))
    nothing = any(finding.claim for finding in findings) and ranked[0].verdict != "holds"
    return [no_claim, *(finding for finding in ranked if finding.topic != no_claim.topic)] if nothing else ranked


def _left_out(hook: Any, empty: Any) -> Callable[..., Any]:
    """A hook of a declared card, or what all results have; empty if it asks for something that its result lacks."""

    def call(result: xr.Dataset, *rest: Any) -> Any:
        with leaving_out(result), special_tokens(result.attrs), debug_mode(False):
            value = hook(result, *rest) if callable(hook) else _there(hook, result)
            return of_model(list(value) if isinstance(value, Iterator) else value)
        return empty

    return call


def _there(declared: Any, result: xr.Dataset) -> Any:
    """The numbers of a result that stand beside others by name, where both are there; all else as it is."""
    if not isinstance(declared, Mapping):
        return declared
    return {name: result[beside] for name, beside in declared.items() if name in result and beside in result}
