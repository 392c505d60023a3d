"""The figures of a result: those of its study, else what its dimensions suggest."""

import importlib

import xarray as xr

from headscope import catalog
from headscope.report.parts import Figure

FOLDER = "report/charts"


def drawn(result: xr.Dataset) -> list[Figure]:
    """The figures of a result, in the order of the page.

    A study's own are in the module of its name beside this one; other studies get `generic`. A figure of nothing, such
    as of heads chosen on one half of a single sentence, is none.
    """
    known = catalog.names(FOLDER)
    study = result.attrs["study"] if result.attrs["study"] in known else "generic"
    figures: list[Figure] = importlib.import_module(f"headscope.report.charts.{study}").figures(result)
    return [figure for figure in figures if result[figure.variable].notnull().any()]
