"""The page of a result's study: its findings, figures and tables, and what the card of a head says of it.

They are read from `studies/NAME/page/`: `findings.py` has `findings(result)` and perhaps `highlights(result)`, the few
that stand first; `figures.py` has `figures(result)`, `tables.py` has `tables(result)`. A study without findings or
figures gets those of `report/default_page`. `kinds.py` has `kinds(result)`: what heads do, for the atlas. `card.py` may
have any of these:

* `main_numbers(result)`: addresses (`attention_to.sep`) of the numbers that stand in the index, in the order of its
  columns; those that no head has are left out.
* `HIDDEN`: variables that only repeat others.
* `baselines(result)`, `rates(result)`: what variables are compared with, and false discovery rates that they have.
* `badges(result)`: words for each head in the index.
* `sentences(result, numbers)`: sentences about one head; `numbers` are the rows of this head.
* `maps(result, layer, head)`, `figures(result, layer, head)`: its most telling examples, and other charts of one head.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import xarray as xr
from altair.utils.schemapi import debug_mode

from headscope import catalog, results
from headscope.report import default_page
from headscope.report.parts import Figure, Finding, HeadKind
from headscope.report.tables import Table

HOOKS = ("main_numbers", "baselines", "rates", "badges", "sentences", "maps", "figures")
MOST = 4
HIGHLIGHTS = 4
# The endings of variables that say how sure a number is, and are none themselves.
TESTS = ("p_value", "q_value", "special")


@dataclass(frozen=True, slots=True)
class StudyCard:
    """A study's part of the card of a head; by default only its numbers."""

    hidden: tuple[str, ...] = ()
    main_numbers: Callable[[xr.Dataset], tuple[str, ...]] = lambda result: _first(result)
    baselines: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    rates: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    badges: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    sentences: Callable[[xr.Dataset, list[Any]], Iterable[Finding]] = lambda result, numbers: ()
    maps: Callable[[xr.Dataset, int, int], Iterable[Figure]] = lambda result, layer, head: ()
    figures: Callable[[xr.Dataset, int, int], Iterable[Figure]] = lambda result, layer, head: ()


@dataclass(frozen=True)
class StudyPage:
    """The parts of one result's page, each made when it is asked for."""

    result: xr.Dataset
    study: str | None

    def highlights(self) -> list[Finding]:
        """The three to five findings that matter most, in plain words."""
        chosen = getattr(self._part("findings"), "highlights", None)
        return list(chosen(self.result)) if chosen else self.findings()[:HIGHLIGHTS]

    def findings(self) -> list[Finding]:
        """All findings with their intervals and tests, in the order of the page."""
        return list((self._part("findings") or default_page.findings).findings(self.result))

    def figures(self) -> list[Figure]:
        """Charts, in the order of the page, without those that have no value to show."""
        with debug_mode(False):  # Altair would check every part of a chart against its schema: half of the time
            figures = (self._part("figures") or default_page.figures).figures(self.result)
        return [figure for figure in figures if self.result[figure.variable].notnull().any()]

    def tables(self) -> list[Table]:
        """Tables that the study lays out itself; the first is printed in the terminal too."""
        part = self._part("tables")
        return part.tables(self.result) if part else []

    def card(self) -> StudyCard:
        """The study's part of the card of a head."""
        part = self._part("card")
        names = {"hidden": "HIDDEN"} | {name: name for name in HOOKS}
        return StudyCard(**{field: getattr(part, name) for field, name in names.items() if hasattr(part, name)})

    def kinds(self) -> list[HeadKind]:
        """The kinds of heads that the numbers of the study show."""
        part = self._part("kinds")
        return list(part.kinds(self.result)) if part else []

    def _part(self, name: str) -> ModuleType | None:
        if self.study is None or not (catalog.ROOT / "studies" / self.study / "page" / f"{name}.py").is_file():
            return None
        return importlib.import_module(f"headscope.studies.{self.study}.page.{name}")


def study_page(result: xr.Dataset) -> StudyPage:
    """The page of a result; that of `default_page` where its study is not one of headscope's."""
    study = str(result.attrs["study"])  # looked up, never imported as it is: a result file may hold anything
    return StudyPage(result, study if study in [*catalog.names("studies"), "_template"] else None)


def _first(result: xr.Dataset) -> tuple[str, ...]:
    """The first variables of heads alone; where there are none, of heads and whatever else."""
    numbers = [name for name in results.means(result) if not name.endswith(TESTS)]
    of_heads = [name for name in numbers if {"layer", "head"} <= set(result[name].dims)]
    alone = [name for name in of_heads if result[name].ndim == 2]
    return tuple((alone or of_heads)[:MOST])
