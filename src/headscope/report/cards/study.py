"""What a study's numbers mean for one head: from the file of the study's name in this folder, where there is one.

Such a file may have any of these:

* `main(result)`: addresses (`attention_to.sep`) of the numbers that stand in the index, in the order of its columns.
* `ASIDE`: variables that only repeat others.
* `baselines(result)`, `rates(result)`: what variables are compared with, and false discovery rates that they have.
* `notes(result)`: words for each head in the index.
* `told(result, numbers)`: sentences about one head; `numbers` are its own, as rows of `numbers`.
* `maps(result, layer, head)`, `figures(result, layer, head)`: its most telling examples, and other charts of one head.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import xarray as xr

from headscope import catalog, results
from headscope.report.parts import Figure, Finding

HOOKS = ("main", "baselines", "rates", "notes", "told", "maps", "figures")
FOLDER, MOST = "report/heads", 4
# The endings of variables that say how sure a number is, and are none themselves.
TESTS = ("p_value", "q_value", "special")


@dataclass(frozen=True, slots=True)
class Study:
    """How the results of a study are told head by head; by default only their numbers are."""

    aside: tuple[str, ...] = ()
    main: Callable[[xr.Dataset], tuple[str, ...]] = lambda result: _first(result)
    baselines: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    rates: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    notes: Callable[[xr.Dataset], dict[str, xr.DataArray]] = lambda result: {}
    told: Callable[[xr.Dataset, pd.DataFrame], Iterable[Finding]] = lambda result, numbers: ()
    maps: Callable[[xr.Dataset, int, int], Iterable[Figure]] = lambda result, layer, head: ()
    figures: Callable[[xr.Dataset, int, int], Iterable[Figure]] = lambda result, layer, head: ()


def study(result: xr.Dataset) -> Study:
    """How a result is told."""
    known = catalog.names(FOLDER)  # looked up, never built from the study's name: a result file may hold anything
    if result.attrs["study"] not in known:
        return Study()
    module: Any = importlib.import_module(f"headscope.report.cards.{result.attrs['study']}")
    parts = {"aside": "ASIDE"} | {name: name for name in HOOKS}
    return Study(**{part: getattr(module, name) for part, name in parts.items() if hasattr(module, name)})


def _first(result: xr.Dataset) -> tuple[str, ...]:
    """The first variables of heads alone; where there are none, of heads and whatever else."""
    numbers = [name for name in results.means(result) if not name.endswith(TESTS)]
    of_heads = [name for name in numbers if {"layer", "head"} <= set(result[name].dims)]
    alone = [name for name in of_heads if result[name].ndim == 2]
    return tuple((alone or of_heads)[:MOST])
