"""The page that a study declares in its `page.py`: what it claims, and charts and tables as data.

A part of a page that asks for a number that the result does not have is left out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import xarray as xr

from headscope import figures, results
from headscope.figures.labels import label
from headscope.report.numbers import MissingNumber, Numbers, leaving_out
from headscope.report.parts import Figure, Finding, LayerNumber
from headscope.report.tables import Column, Table
from headscope.report.wording import Cell, estimate

# A finding that says the same of all results is a part as it is.
Part = Callable[[Numbers], Any] | Finding
Beside = Mapping[str, str] | Callable[[xr.Dataset], dict[str, xr.DataArray]]
MOST_NUMBERS = 4
SCALES: dict[str, tuple[str, float]] = {"%": (".1f", 100), "+%": ("+.1f", 100)}
# What a part makes that is one thing; all else is several.
SINGLE = Finding | Figure | Table | LayerNumber


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of one number.

    * `kind`: a chart of `headscope.figures`.
    * `section`: the heading that it stands under; `caption`: what it shows. `{model}` is an attribute of the result,
      `{model_name}` what stands before its first colon, `{label}` the label of `per` in words.
    * `name`: stem of its files; by default the name of the number.
    * `dims`: dimensions in the order that the chart takes; labels without any value are left out.
    * `at`: labels to draw; `per`: a dimension whose labels have a chart each; `drop`: one whose labels without values
      are left out; `most`: at most this many labels of each of these dimensions, for there are no more colours.
    * `title`: of each chart, by default what the number is, which is `{long_name}` in it.
    * `style`: arguments of the chart.
    """

    number: str
    kind: str
    section: str
    caption: str
    name: str = ""
    dims: tuple[str, ...] = ()
    at: Mapping[str, Any] = field(default_factory=dict)
    per: str = ""
    drop: str = ""
    title: str = "{long_name}"
    most: Mapping[str, int] = field(default_factory=dict)
    style: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, numbers: Numbers) -> Iterator[Figure]:
        """The charts that have a value. Raises `MissingNumber` if there is none."""
        array, name = numbers.array(self.number, **self.at), self.name or self.number
        for value in numbers.labels(self.number, self.per) if self.per else [None]:
            part = self._prepared(array if value is None else array.sel({self.per: value}, drop=True))
            words = numbers.words | ({} if value is None else {"label": label(self.per, value)})
            part.attrs["long_name"] = self.title.format_map(words | {"long_name": part.attrs.get("long_name", name)})
            picture = getattr(figures, self.kind)(part, **self.style)
            stem = name if value is None else f"{name}-{value}"
            yield Figure(stem, self.section, picture, self.caption.format_map(words), self.number)

    def _prepared(self, array: xr.DataArray) -> xr.DataArray:
        """An array in the order of the chart, without the labels that have no value."""
        if self.dims:
            array = array.drop_vars("n_examples", errors="ignore").transpose(*self.dims)
            for dim in self.dims:
                array = array.dropna(dim, how="all")
        array = array.dropna(self.drop, how="all") if self.drop else array
        return array.isel({dim: slice(most) for dim, most in self.most.items()})


@dataclass(frozen=True, slots=True)
class NumberTable:
    """A table with a row for each combination of labels that has a value, and a column for each number.

    * `rows`: titles by dimension; `columns`: of each number its title, and how its values are written: "%" for a share
      in per cent, "+%" for a difference of shares in points, "bytes", a format such as ".1f", or "" for two decimals or
      more.
    * `words`: of labels that have others than their own, by dimension.
    """

    name: str
    caption: str
    rows: Mapping[str, str]
    columns: Mapping[str, tuple[str, str]]
    words: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)

    def __call__(self, numbers: Numbers) -> Table:
        """The table of a result, with the columns of the numbers that it has. Raises `MissingNumber` if it has none."""
        columns = {name: column for name, column in self.columns.items() if name in numbers.result}
        if not columns:
            raise MissingNumber(self.name)
        keys = product(*(numbers.labels(next(iter(columns)), dim) for dim in self.rows))
        rows = [(self._labels(key), [self._cell(numbers, name, key) for name in columns]) for key in keys]
        titles = tuple(Column(name, title) for name, (title, _) in columns.items())
        return Table(self.name, self.caption.format_map(numbers.words), tuple(self.rows.values()), titles, rows)

    def _labels(self, key: tuple[Any, ...]) -> tuple[str, ...]:
        pairs = zip(self.rows, key, strict=True)
        return tuple(self.words.get(dim, {}).get(value, str(value)) for dim, value in pairs)

    def _cell(self, numbers: Numbers, name: str, key: tuple[Any, ...]) -> Cell:
        _, form = self.columns[name]
        form, scale = SCALES.get(form, (form, 1.0))
        return estimate(numbers.result, name, **dict(zip(self.rows, key, strict=True))).cell(form, scale)


# The endings of variables that say how sure a number is, and are none themselves.
TESTS = ("p_value", "q_value", "special")


@dataclass(frozen=True, slots=True)
class StudyCard:
    """A study's part of the card of a head; by default only its numbers.

    * `baselines`, `rates`: what stands beside a number and its false discovery rate, by its name: other numbers of the
      result by name, or arrays that a function makes.
    """

    hidden: tuple[str, ...] = ()
    main_numbers: tuple[str, ...] | Callable[[xr.Dataset], tuple[str, ...]] = lambda result: _first(result)
    baselines: Beside = field(default_factory=dict)
    rates: Beside = field(default_factory=dict)
    badges: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    sentences: Callable[[xr.Dataset, list[Any]], Iterable[Finding]] = lambda result, numbers: ()
    maps: Callable[[xr.Dataset, int, int], Iterable[Figure]] = lambda result, layer, head: ()
    figures: Callable[[xr.Dataset, int, int], Iterable[Figure]] = lambda result, layer, head: ()


@dataclass(frozen=True, slots=True)
class StudyParts:
    """What report, cards and viewer show of a study. Each part is a function of the `Numbers` of a result.

    * `highlights`: those of which the strongest stand first; `findings`: the others, in their order. A page without
      highlights begins with its first findings.
    * `no_claim`: what is said first where no claim holds; `nothing`: of a result without a value.
    * `charts`, `tables`: as data, or functions; `by_layer`: numbers that the terminal prints by layer, by default all.
    * `layers`, `layer_figures`: numbers of every layer, for the page of layers, and figures beside them.
    * `kinds`: what heads do, for the atlas; `card`: what the card of a head says.
    """

    findings: tuple[Part, ...] = ()
    highlights: tuple[Part, ...] = ()
    charts: tuple[Part, ...] = ()
    tables: tuple[Part, ...] = ()
    by_layer: tuple[str, ...] | None = None
    layers: tuple[Part, ...] = ()
    layer_figures: tuple[Part, ...] = ()
    kinds: tuple[Part, ...] = ()
    card: StudyCard = field(default_factory=StudyCard)
    no_claim: Callable[[xr.Dataset], Finding] | None = None
    nothing: Finding | None = None


def parts_of(parts: Iterable[Part], result: xr.Dataset) -> list[Any]:
    """The parts of a result's page, without those that need something that the result lacks."""
    numbers, findings = Numbers(result), list[Any]()
    for part in parts:
        with leaving_out(result):
            finding = part if isinstance(part, Finding) else part(numbers)
            findings += [] if finding is None else [finding] if isinstance(finding, SINGLE) else finding
    return findings


def _first(result: xr.Dataset) -> tuple[str, ...]:
    """The first variables of heads alone; where there are none, of heads and whatever else."""
    numbers = [name for name in results.means(result) if not name.endswith(TESTS)]
    by_head = [name for name in numbers if {"layer", "head"} <= set(result[name].dims)]
    alone = [name for name in by_head if result[name].ndim == 2]
    return tuple((alone or by_head)[:MOST_NUMBERS])
