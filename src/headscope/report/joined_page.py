"""The page of a joined result: how many heads keep their kind on all corpora, which do not, and all numbers."""

from collections.abc import Iterator
from dataclasses import replace

import xarray as xr

from headscope.report import corpora_page, default_parts
from headscope.report.parts import Figure, Finding
from headscope.report.tables import Table


def highlights(result: xr.Dataset) -> list[Finding]:
    """The share of heads that keep their kind beside chance, and the kinds that are kept."""
    return corpora_page.findings(result)


def findings(result: xr.Dataset) -> list[Finding]:
    """The same, and how far all other numbers reach."""
    return [*corpora_page.findings(result), *default_parts.findings(result)]


def figures(result: xr.Dataset) -> Iterator[Figure]:
    """The kinds of all heads by corpus, and the numbers of heads."""
    yield replace(corpora_page.figure(result, 1), variable="kind")
    yield from default_parts.figures(result)


def tables(result: xr.Dataset) -> Iterator[Table]:
    """The numbers of heads of each kind by corpus, and the heads that do not keep theirs."""
    return corpora_page.tables(result)
