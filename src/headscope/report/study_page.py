"""The page of a result's study: its findings, figures and tables, and what the card of a head says of it.

They are `PAGE` in the study's `page.py`, the `StudyParts` of `report/declared`. A study without findings or figures
gets those of `report/default_parts`. A study that has a folder `page/` instead has the same by hooks: functions of a
result, of these names, in `findings.py`, `figures.py` (also `layer_numbers` and `layer_figures`), `tables.py` (also
`BY_LAYER`) and `card.py`.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import xarray as xr
from altair.utils.schemapi import debug_mode

from headscope import catalog, results
from headscope.errors import HeadscopeError
from headscope.figures.labels import of_model, special_tokens
from headscope.report import default_parts
from headscope.report.claims import Verdict
from headscope.report.declared import StudyCard, StudyParts, lacks, leaving_out, parts_of
from headscope.report.joined_seeds import SEEDS
from headscope.report.parts import Figure, Finding, HeadKind, LayerNumber
from headscope.report.tables import Table
from headscope.statistics.intervals import TOO_FEW

Hook = Callable[[xr.Dataset], Iterable[Any]]
HOOKS = ("main_numbers", "baselines", "rates", "badges", "sentences", "maps", "figures")
HIGHLIGHTS, FIRST_SCREEN = 4, 5
NOTHING = Finding(
    "Nothing was measured",
    "No example gives a value to any number of this study. Read more examples, longer ones, or another corpus.",
)
NO_CLAIM = Finding("Nothing stands out", "No difference that this study looks for is beyond chance here.")
ORDER: list[Verdict | None] = ["holds", "fails", None, "undecided"]
# What a part of a card is without anything; all others are empty lists.
EMPTY: dict[str, Any] = {name: {} for name in ("baselines", "rates", "badges")}
FIELDS = {"figures": "charts", "layer_numbers": "layers", "NOTHING": "nothing", "BY_LAYER": "by_layer"}


@dataclass(frozen=True)
class StudyPage:
    """The parts of one result's page, each made when it is asked for.

    Where the study's own findings say nothing of a result that has numbers, there are those of `report/default_parts`.
    Each raises `HeadscopeError` if the result lacks a variable, label or attribute that the page reads.
    """

    result: xr.Dataset
    study: str | None

    def highlights(self) -> list[Finding]:
        """The three to five findings that matter most: claims that hold first, the largest effect before the others."""
        return self._ranked[:FIRST_SCREEN] or self.findings()[:HIGHLIGHTS]

    def findings(self) -> list[Finding]:
        """The other findings with their intervals and tests, in the order of the page."""
        if self._is_empty():
            return [self._hook("findings", "NOTHING") or NOTHING]
        found = self._made("findings", "findings", default_parts.findings)
        further = self._ranked[FIRST_SCREEN:] if self._page else []
        with special_tokens(self.result.attrs):  # the page may ask for variables of another study
            return [*further, *found] or default_parts.findings(self.result)

    @cached_property
    def _ranked(self) -> list[Finding]:
        """The highlights, the strongest first, after what is said where no claim holds."""
        if self._is_empty() or not self._hook("findings", "highlights"):
            return []
        own = self._hook("findings", "no_claim")
        if TOO_FEW in self.result.attrs.get("resampled", ""):
            first = Finding("Undecided: too few documents", few_documents(self.result))
        else:
            first = own(self.result) if own else NO_CLAIM
        return strongest_first(self._made("findings", "highlights"), first)

    def figures(self) -> list[Figure]:
        """Charts, in the order of the page, without those that have no value to show."""
        if self._is_empty():
            return []
        with unchecked():
            figures = self._made("figures", "figures", default_parts.figures)
        with refusing_incomplete(self.result):
            return [figure for figure in figures if self.result[figure.variable].notnull().any()]

    def tables(self) -> list[Table]:
        """Tables that the study lays out itself; the first is printed in the terminal too."""
        return self._made("tables", "tables")

    def by_layer(self, names: list[str]) -> list[str]:
        """The variables whose means by layer the terminal prints, of `names`: those of `BY_LAYER`, else all."""
        chosen = self._hook("tables", "BY_LAYER")
        return names if chosen is None else [name for name in names if name in chosen]

    def card(self) -> StudyCard:
        """The study's part of the card of a head."""
        if page := self._page:
            hooks = {name: _left_out(getattr(page.card, name), EMPTY.get(name, ())) for name in HOOKS}
            return replace(page.card, **hooks)
        found = {name: hook for name in HOOKS if (hook := self._hook("card", name))}
        hooks = {name: _refusing(hook) for name, hook in found.items()}
        return StudyCard(hidden=self._hook("card", "HIDDEN") or (), **hooks)

    def has_kinds(self) -> bool:
        """Whether the numbers of the study can give a head a kind."""
        return bool(self._hook("card", "kinds"))

    def kinds(self) -> list[HeadKind]:
        """The kinds of heads that the numbers of the study show."""
        return self._made("card", "kinds")

    def layer_numbers(self) -> list[LayerNumber]:
        """The numbers of every layer that the study has."""
        return self._made("figures", "layer_numbers")

    def layer_figures(self) -> list[Figure]:
        """The figures of layers that stand beside their numbers."""
        return self._made("figures", "layer_figures")

    def _made(self, part: str, name: str, default: Hook | None = None) -> list[Any]:
        """What a hook of the study, or the default, makes of the result; nothing without either."""
        if page := self._page:
            parts = getattr(page, FIELDS.get(name, name))
            if parts or default is None:
                with special_tokens(self.result.attrs):
                    return of_model(parts_of(parts, self.result))
        make = self._hook(part, name) or default
        with refusing_incomplete(self.result), special_tokens(self.result.attrs):
            return of_model(list(make(self.result))) if make else []

    def _hook(self, part: str, name: str) -> Any:
        """What has this name in a file of the study's page; None where there is none."""
        if page := self._page:
            return getattr(page, FIELDS.get(name, name))
        return getattr(self._part(part), name, None)

    @property
    def _page(self) -> StudyParts | None:
        """The page that the study declares, or that of joined seeds; None for one of several corpora."""
        if self.result.attrs["study"] == SEEDS:
            return _declared(Path(__file__).with_name("seeds_page.py"))
        if self.study is None or "corpus" in self.result.dims:
            return None
        return _declared(catalog.study_folder(self.study) / "page.py")

    def _is_empty(self) -> bool:
        """Whether there are numbers, but none has a value."""
        variables = [self.result.variables[name] for name in results.means(self.result)]
        numbers = [variable.values for variable in variables if variable.dtype.kind == "f"]
        return bool(numbers) and all(np.isnan(values).all() for values in numbers)

    def _part(self, name: str) -> ModuleType | None:
        if "corpus" in self.result.dims and name != "card":
            return importlib.import_module("headscope.report.joined_page")
        return None if self.study is None else _page_file(catalog.study_folder(self.study) / "page", name)


@cache
def _declared(file: Path) -> StudyParts | None:
    """The page of a file, which is looked for once; None where there is none."""
    return importlib.import_module(catalog.module_of(file)).PAGE if file.is_file() else None


@cache
def _page_file(folder: Path, name: str) -> ModuleType | None:
    """A file of a study's page, which is looked for once; None where there is none."""
    if not (folder / f"{name}.py").is_file():
        return None
    return importlib.import_module(catalog.module_of(folder / name))


def unchecked() -> AbstractContextManager[None]:
    """Within this context Altair does not check every part of a chart against its schema, which takes half the time."""
    return debug_mode(False)


def study_page(result: xr.Dataset) -> StudyPage:
    """The page of a result; that of `default_parts` where its study is not one of headscope's."""
    study = str(result.attrs["study"])  # looked up, never imported as it is: a result file may hold anything
    return StudyPage(result, study if study in [*catalog.names("studies"), "_template"] else None)


def few_documents(result: xr.Dataset) -> str:
    """Why a result of few documents decides nothing."""
    why = "Sentences of one document depend on each other, so that no interval can be told from so few."
    return f"{why} Read: {result.attrs['resampled']}."


def strongest_first(findings: list[Finding], no_claim: Finding) -> list[Finding]:
    """Claims that hold by their effects, those that fail, descriptions, and what could not be told.

    * `no_claim`: what is said first where there are claims, and none holds.
    """
    ranked = sorted(findings, key=lambda finding: (ORDER.index(finding.verdict), -_effect(finding)))
    nothing = any(finding.claim for finding in findings) and ranked[0].verdict != "holds"
    return ([no_claim] if nothing else []) + ranked


def _effect(finding: Finding) -> float:
    return finding.claim.effect if finding.claim and finding.verdict == "holds" else 0.0


@contextmanager
def refusing_incomplete(result: xr.Dataset) -> Iterator[None]:
    """Within this context, in which a page reads a result, a missing part of the result becomes a `HeadscopeError`.

    Any other `KeyError` passes: the code that reads is wrong, not the result.
    """
    try:
        yield
    except KeyError as error:
        if not (name := lacks(result, error)):
            raise
        raise HeadscopeError(
            f"the result of '{result.attrs['study']}' on '{result.attrs['corpus']}' lacks '{name}'; run the study again"
        ) from error


def _left_out(hook: Callable[..., Any], empty: Any) -> Callable[..., Any]:
    """A hook of a declared card, which is empty if it asks for something that its result does not have."""

    def call(result: xr.Dataset, *rest: Any) -> Any:
        with leaving_out(result), special_tokens(result.attrs), unchecked():
            found = hook(result, *rest)
            return of_model(list(found) if isinstance(found, Iterator) else found)
        return empty

    return call


def _refusing(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook of a card that raises `HeadscopeError` if its result, the first argument, is incomplete."""

    def call(result: xr.Dataset, *rest: Any) -> Any:
        with refusing_incomplete(result), special_tokens(result.attrs), unchecked():
            found = hook(result, *rest)
            return of_model(list(found) if isinstance(found, Iterator) else found)

    return call
