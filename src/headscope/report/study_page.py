"""The page of a result's study: its findings, figures and tables, and what the card of a head says of it.

They are read from `studies/NAME/page/`: `findings.py` has `findings(result)`, perhaps `highlights(result)`, the few
that stand first, and `NOTHING`, the finding of a result without a number; `figures.py` has `figures(result)`,
`tables.py` has `tables(result)` and perhaps `BY_LAYER`, the variables that the terminal prints by layer. A study
without findings or figures gets those of `report/default_page`. `kinds.py` has `kinds(result)`: what heads do, for the
atlas. `layers.py` has `layers(result)`: numbers of every layer, for the page `layers.html`, and perhaps
`pictures(result)`, its figures there. `card.py` may have any of these:

* `main_numbers(result)`: addresses (`attention_to.sep`) of the numbers that stand in the index, in the order of its
  columns; those that no head has are left out.
* `HIDDEN`: variables that only repeat others.
* `baselines(result)`, `rates(result)`: what variables are compared with, and false discovery rates that they have.
* `badges(result)`: words for each head in the index.
* `sentences(result, numbers)`: sentences about one head; `numbers` are the rows of this head.
* `maps(result, layer, head)`, `figures(result, layer, head)`: its most telling examples, and other charts of one head.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import xarray as xr
from altair.utils.schemapi import debug_mode

from headscope import catalog, results
from headscope.errors import HeadscopeError
from headscope.report import default_page
from headscope.report.parts import Figure, Finding, HeadKind, LayerNumber
from headscope.report.tables import Table

HOOKS = ("main_numbers", "baselines", "rates", "badges", "sentences", "maps", "figures")
MOST = 4
HIGHLIGHTS = 4
NOTHING = Finding(
    "Nothing was measured",
    "No example gives a value to any number of this study. Read more examples, longer ones, or another corpus.",
)
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
    """The parts of one result's page, each made when it is asked for.

    Each raises `HeadscopeError` if the result lacks a variable, label or attribute that the page reads.
    """

    result: xr.Dataset
    study: str | None

    def highlights(self) -> list[Finding]:
        """The three to five findings that matter most, in plain words."""
        chosen = getattr(self._part("findings"), "highlights", None)
        if self._is_empty():
            return self.findings()
        with refusing_incomplete(self.result):
            return list(chosen(self.result)) if chosen else self.findings()[:HIGHLIGHTS]

    def findings(self) -> list[Finding]:
        """All findings with their intervals and tests, in the order of the page."""
        if self._is_empty():
            return [getattr(self._part("findings"), "NOTHING", NOTHING)]
        with refusing_incomplete(self.result):
            return list((self._part("findings") or default_page.findings).findings(self.result))

    def figures(self) -> list[Figure]:
        """Charts, in the order of the page, without those that have no value to show."""
        if self._is_empty():
            return []
        # Altair would check every part of a chart against its schema: half of the time
        with debug_mode(False), refusing_incomplete(self.result):
            figures = (self._part("figures") or default_page.figures).figures(self.result)
            return [figure for figure in figures if self.result[figure.variable].notnull().any()]

    def tables(self) -> list[Table]:
        """Tables that the study lays out itself; the first is printed in the terminal too."""
        part = self._part("tables")
        with refusing_incomplete(self.result):
            return part.tables(self.result) if part else []

    def by_layer(self, names: list[str]) -> list[str]:
        """The variables whose means by layer the terminal prints, of `names`: those of `BY_LAYER`, else all."""
        chosen = getattr(self._part("tables"), "BY_LAYER", names)
        return [name for name in names if name in chosen]

    def card(self) -> StudyCard:
        """The study's part of the card of a head."""
        part = self._part("card")
        hooks = {name: _refusing(getattr(part, name)) for name in HOOKS if hasattr(part, name)}
        return StudyCard(hidden=getattr(part, "HIDDEN", ()), **hooks)

    def kinds(self) -> list[HeadKind]:
        """The kinds of heads that the numbers of the study show."""
        part = self._part("kinds")
        with refusing_incomplete(self.result):
            return list(part.kinds(self.result)) if part else []

    def layers(self) -> list[LayerNumber]:
        """The numbers of every layer that the study has."""
        part = self._part("layers")
        with refusing_incomplete(self.result):
            return list(part.layers(self.result)) if part else []

    def layer_pictures(self) -> list[Figure]:
        """The figures of layers that stand beside their numbers."""
        part = self._part("layers")
        with refusing_incomplete(self.result):
            return list(part.pictures(self.result)) if part and hasattr(part, "pictures") else []

    def _is_empty(self) -> bool:
        """Whether there are numbers, but none has a value."""
        numbers = [each for name in results.means(self.result) if (each := self.result[name]).dtype.kind == "f"]
        return bool(numbers) and all(bool(each.isnull().all()) for each in numbers)

    def _part(self, name: str) -> ModuleType | None:
        if self.study is None or not (catalog.ROOT / "studies" / self.study / "page" / f"{name}.py").is_file():
            return None
        return importlib.import_module(f"headscope.studies.{self.study}.page.{name}")


def study_page(result: xr.Dataset) -> StudyPage:
    """The page of a result; that of `default_page` where its study is not one of headscope's."""
    study = str(result.attrs["study"])  # looked up, never imported as it is: a result file may hold anything
    return StudyPage(result, study if study in [*catalog.names("studies"), "_template"] else None)


@contextmanager
def refusing_incomplete(result: xr.Dataset) -> Iterator[None]:
    """Within this context, in which a page reads a result, a missing part of the result becomes a `HeadscopeError`.

    Any other `KeyError` passes: the code that reads is wrong, not the result.
    """
    try:
        yield
    except KeyError as error:
        first = error.__cause__ or error  # xarray lists the variables of the result in the second one
        name = first.args[0] if first.args else ""
        is_label = "not all values found in index" in str(error)  # a label may have the name of a variable
        if not is_label and (name in result.variables or name in result.attrs):
            raise
        raise HeadscopeError(
            f"the result of '{result.attrs['study']}' on '{result.attrs['corpus']}' lacks '{name}'; run the study again"
        ) from error


def _refusing(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook of a card that raises `HeadscopeError` if its result, the first argument, is incomplete."""

    def call(result: xr.Dataset, *rest: Any) -> Any:
        with refusing_incomplete(result):
            made = hook(result, *rest)
            return list(made) if isinstance(made, Iterator) else made

    return call


def _first(result: xr.Dataset) -> tuple[str, ...]:
    """The first variables of heads alone; where there are none, of heads and whatever else."""
    numbers = [name for name in results.means(result) if not name.endswith(TESTS)]
    of_heads = [name for name in numbers if {"layer", "head"} <= set(result[name].dims)]
    alone = [name for name in of_heads if result[name].ndim == 2]
    return tuple((alone or of_heads)[:MOST])
